"""A folder with a repository, beside a secret that no command may read and files that none may change."""

import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec

from agentdash.sessions.rules.asks.model import Ask, AskKind
from agentdash.sessions.rules.asks.rules import decide
from agentdash.sessions.rules.asks.settings import AskRule

SECRET = "the secret outside"
PROGRAM_OPTIONS = {
    name: listed.split()
    for name, _, listed in (
        line.partition("\t") for line in Path(__file__).with_name("program_options.tsv").read_text().splitlines()
    )
}
"""The options of the programs by their own lists (``--help``, ``-h`` and manuals: git 2.39.5, GNU, ripgrep 15.2);
``=`` follows one that takes a value, ``?`` one that may."""


class Workplace:
    """The folder, and what is around it."""

    def __init__(self, root: Path) -> None:
        self.folder, self.outside = root / "project", root / "outside"
        self.home = root / "home"
        for path in (self.folder / "src", self.outside, self.home):
            path.mkdir(parents=True)
        (self.outside / "secret.txt").write_text(f"{SECRET}\n" * 3)
        for name in ("a.py", "b.txt", "src/c.py", "two words"):
            (self.folder / name).write_text("".join(f"line {n} of {name}\n" for n in range(9)))
        (self.folder / "link").symlink_to("../outside/secret.txt")
        (self.folder / "door").symlink_to("../outside")
        self.git("init", "-q", "-b", "main")
        self.git("add", "a.py", "b.txt", "src")
        self.git("commit", "-qm", "first")
        (self.folder / "a.py").write_text("another line\n")
        self.git("commit", "-qam", "second")
        (self.folder / "b.txt").write_text("not yet committed\n")
        self.looks_like_a_repository("bare")

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, env=self.env, check=True, capture_output=True)

    @property
    def env(self) -> dict[str, str]:
        """An environment without the user's settings."""
        person = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"} | person

    def looks_like_a_repository(self, name: str) -> None:
        """Make a folder that git takes for a repository; all of its settings run a program."""
        bare = self.folder / name
        for part in ("objects/info", "refs"):
            (bare / part).mkdir(parents=True)
        (bare / "HEAD").write_text("ref: refs/heads/main\n")
        (bare / "objects/info/alternates").write_text(f"{self.folder}/.git/objects\n")
        (bare / "config").write_text(
            "[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = touch ran; false\n"
            "\tpager = touch ran; cat\n[diff]\n\texternal = touch ran; true\n"
        )

    def decided(self, line: str, *stated: dict[str, Any], cwd: Path | None = None) -> str:
        """Return the decision about a command of claude by these rules."""
        ask = Ask(key="k", kind=AskKind.COMMAND, tool="Bash", title=line, body=line, cwd=str(cwd or self.folder))
        rules = tuple(msgspec.convert(one, AskRule) for one in stated)
        return decide(rules, ask, agent="claude", cwd=str(self.folder)).decide

    def run(self, line: str) -> tuple[str, set[tuple[str, bytes]]]:
        """Run a line as an agent does; return its output, and what it changed."""
        before = self._files()
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        return (done.stdout + done.stderr).decode("utf-8", "replace"), before ^ self._files()

    def _files(self) -> set[tuple[str, bytes]]:
        """Every file with its contents; git keeps the times of files in its index."""
        found = (path for folder in (self.folder, self.outside, self.home) for path in folder.rglob("*"))
        return {
            (str(path), path.read_bytes() if path.is_file() else b"")
            for path in found
            if path.name not in ("index", "secret.txt") or path.is_symlink()
        }
