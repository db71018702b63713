"""The command ``agentdash`` and ``python -m agentdash``."""

import sys


def main() -> None:
    """Hand over to the command line; Textual is imported only when a screen is asked for."""
    from .tui.cli.main import run

    sys.exit(run())


if __name__ == "__main__":
    main()
