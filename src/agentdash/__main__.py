"""The command ``agentdash`` and ``python -m agentdash``."""

import os
import signal
import sys

COMPLETION = "_AGENTDASH_COMPLETE"
"""The variable by which a shell asks to complete a word."""


def main() -> None:
    """Run the command line; Textual is imported only if a screen is opened."""
    try:
        if COMPLETION not in os.environ and sys.argv[1:] == ["mcp"] and _is_piped():
            code = _mcp()
        else:
            code = _dashboard() if len(sys.argv) == 1 and COMPLETION not in os.environ else _command()
    except KeyboardInterrupt:  # while the modules are loaded; what follows reports it by itself
        sys.stderr.write("agentdash: Interrupted; sessions keep running.\n")
        code = 128 + signal.SIGINT
    sys.exit(code)


def _is_piped() -> bool:
    return sys.stdin is not None and not sys.stdin.isatty()


def _mcp() -> int:
    """Serve MCP without the command line, which takes as long to load as the server: clients wait for its start."""
    from agentdash.sessions.mcp.orchestration.registry import TOOLS
    from agentdash.sessions.mcp.server import serve

    return serve(TOOLS)


def _command() -> int:
    from agentdash.tui.cli.main import run
    from agentdash.tui.terminal.watchdog import guard_command

    guard_command()
    return run()


def _dashboard() -> int:
    """Open the dashboard without the command line, which takes longer to load than the table takes to draw."""
    try:
        from agentdash.tui.terminal.early import holding

        with holding() as held:
            from agentdash.sessions.service.projects import state_folder

            state_folder.choose()
            if held is not None:
                from agentdash.tui.first_frame import show

                show(held)
            from agentdash.tui.startup import start
            from agentdash.tui.terminal.watchdog import guard_command

            guard_command(held.give_back if held is not None else None)
            return start()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the command line reports each of them
        from agentdash.tui.cli.main import report_error

        return report_error(error)


if __name__ == "__main__":
    main()
