"""The folders of `agentdash demo`."""

from pathlib import Path


def make_demo(home: Path, projects: Path) -> None:
    """Create the state folder and the projects folder of a demo."""
    for folder in (home, projects):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
