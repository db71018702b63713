"""The command ``agentdash`` and ``python -m agentdash``."""

import sys


def main() -> None:
    """Run the command line; Textual is imported only if a screen is opened."""
    from .tui.cli.main import run

    sys.exit(run())


if __name__ == "__main__":
    main()
