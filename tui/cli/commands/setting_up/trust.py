"""The verb of the settings of projects: show them, trust them, forget them."""

import sys

import click

from agentdash.sessions.model.errors import AgentdashError, ConfigError, UsageError
from agentdash.tui.cli.commands import common
from agentdash.tui.cli.exit_codes import FAILED


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option("--yes", "-y", is_flag=True, help="Trust the contents without a question.")
@click.option("--list", "listing", is_flag=True, help="List the trusted files.")
@click.option("--forget", metavar="PATH", type=click.Path(), help="Stop trusting the file of a project.")
@common.json_option
def trust(path: str | None, yes: bool, listing: bool, forget: str | None, as_json: bool) -> int:
    """Trust the settings of a project.

    The file is .agentdash.toml in PATH (default: here) or above it.  Its settings are in force only while its contents
    are those that you trusted, and they widen nothing that your own settings limit.  With --json, nothing is asked:
    add --yes to trust.  Exits 1 if the file is not trusted.
    """
    if (path is not None) + listing + (forget is not None) > 1 or (yes and (listing or forget is not None)):
        raise UsageError("Give one of: PATH (with --yes), --list, --forget PATH.")
    if listing:
        return _list(as_json)
    if forget is not None:
        return _forget(forget, as_json)
    return _trust(path or "", yes, as_json)


def _trust(path: str, yes: bool, as_json: bool) -> int:
    from agentdash.sessions.service.projects.file import NAME
    from agentdash.tui.render.setup.trust import review_json, review_lines

    with common.open_manager() as manager:
        folder = path.removesuffix(NAME) if path.endswith(f"/{NAME}") or path == NAME else path
        found = manager.reader.settings.project_of(folder)
        if found is None:
            off = (
                ""
                if manager.reader.settings.config().projects.read
                else " Your settings turn projects off: [projects] read."
            )
            raise AgentdashError(f"No {NAME} in {path or 'the current folder'} or above it.{off}")
        if not as_json:
            if found.state == "refused":
                raise ConfigError(found.why)
            if found.state == "unsafe":
                raise AgentdashError(found.note)
            common.print_lines(review_lines(found), painted=False)
        if found.state in ("untrusted", "changed") and (yes or (not as_json and _agreed())):
            found = manager.projects.trust(found)
            if not as_json:
                common.print_lines([f"Trusted: {found.path}"], painted=False)
        if as_json:
            common.print_json(review_json(found))
    if found.state == "refused":
        return ConfigError.exit_code
    return 0 if found.state == "trusted" else FAILED


def _agreed() -> bool:
    """Ask the user; without a terminal, the answer is no."""
    if sys.stdin is None or not sys.stdin.isatty():
        common.notice("not trusted. Run it in a terminal, or add --yes.")
        return False
    return click.confirm("Trust these settings?", default=False, err=True)


def _list(as_json: bool) -> int:
    from agentdash.tui.render.setup.trust import trusted_json, trusted_line

    with common.open_manager() as manager:
        listed = manager.projects.trusted()
    if as_json:
        common.print_json([trusted_json(one, state) for one, state in listed])
    else:
        common.say_on((trusted_line(one, state) for one, state in listed), otherwise="No trusted projects.")
    return 0


def _forget(path: str, as_json: bool) -> int:
    with common.open_manager() as manager:
        forgotten = manager.projects.forget(path)
    record = {"path": str(forgotten), "state": "untrusted"}
    common.print_one(record, f"Not trusted: {forgotten}", as_json=as_json, painted=False)
    return 0
