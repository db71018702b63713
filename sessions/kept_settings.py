"""The settings that runners need: a front end that has read the file stores them in the database."""

from .settings.config import Config
from .storage.store import Store


def keep_settings(store: Store, config: Config) -> None:
    """Store what runners need of the settings, because they never read the file."""
    store.keep(
        {
            "max_running": config.queue.max_running,
            "wakes": config.orchestration.wakes,
            "escalate_ms": round(config.orchestration.escalate_seconds * 1000),
        }
    )
