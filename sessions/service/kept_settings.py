"""The settings that runners and the MCP server need: a front end that has read the file stores them in the database."""

from agentdash.sessions.settings.config import Config, Loaded
from agentdash.sessions.settings.sections import period_budgets, project_budgets, real
from agentdash.sessions.storage.store import Store


def keep_settings(store: Store, config: Config) -> bool:
    """Store what they need of the settings, because they never read the file; return whether a budget changed."""
    store.keep(
        {
            "max_running": config.queue.max_running,
            "max_depth": config.orchestration.max_depth,
            "wakes": config.orchestration.wakes,
            "escalate_ms": round(config.orchestration.escalate_seconds * 1000),
        }
    )
    return store.period_budgets.keep(period_budgets(config.budgets))


def keep_start(store: Store, settings: Loaded, *, own: bool = True) -> None:
    """Store what the runner of a start needs; the budgets of a project bind its folder beside the user's own.

    ``own`` is false for a start by a session: the file that it reads is not stored in place of the user's.
    """
    project = settings.project
    if own:
        keep_settings(store, settings.config if project is None else project.own)
    if project is not None:
        root = project.path.parent
        store.period_budgets.keep(project_budgets(project.stated, root), real(str(root)))
