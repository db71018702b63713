"""The files by which other programs run something, which no rule lets an agent write."""

import msgspec
import pytest

from agentdash.sessions.rules.asks.dangerous import can_remember
from agentdash.sessions.rules.asks.model import Ask, AskKind
from agentdash.sessions.rules.asks.rules import decide
from agentdash.sessions.rules.asks.settings import AskRule


def edit(path, cwd, tool="Write"):
    return Ask(key="k", kind=AskKind.EDIT, tool=tool, title="edit", body="x", paths=(str(path),), cwd=str(cwd))


def decided(ask, cwd, **stated):
    rule = msgspec.convert({"decide": "allow", "tool": ask.tool} | stated, AskRule)
    return decide((rule,), ask, agent="claude", cwd=str(cwd)).decide


RUNNING = [
    ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/x.sh", ".claude/agents/x.md",
    ".codex/config.toml", ".mcp.json",
    "CLAUDE.md", "AGENTS.md", "sub/AGENTS.md", "GEMINI.md", ".cursor/rules/x", ".agentdash.toml", ".git",
    ".git/config", ".git/hooks/pre-commit",
    "sub/.git/config", "sub/.git", ".git/worktrees/x/config.worktree", ".gitattributes", ".gitmodules", ".gitconfig",
    ".envrc", ".env", ".env.local",
    ".vscode/tasks.json", ".idea/x.xml", "x.code-workspace", ".husky/pre-commit", "hooks/pre-commit",
    ".github/workflows/ci.yml", ".gitlab-ci.yml",
    ".pre-commit-config.yaml", "lefthook.yml", "package.json", "sub/package.json", ".npmrc", ".yarnrc.yml",
    "Makefile", "sub/x.mk", "justfile",
    "pyproject.toml", "setup.py", "conftest.py", "tox.ini", "noxfile.py", "sitecustomize.py", "x.pth", "Cargo.toml",
    "build.rs", ".cargo/config.toml",
    "build.gradle", "pom.xml", "CMakeLists.txt", "Dockerfile", "docker-compose.yml", "Jenkinsfile", ".bashrc",
    ".zshenv", ".profile", ".ssh/authorized_keys",
    ".vimrc", ".exrc", ".dir-locals.el", ".config/fish/config.fish", ".local/bin/x", "vite.config.ts", ".eslintrc.js",
    "node_modules/x/index.js",
    ".GIT/config", ".Git/hooks/x", ".CLAUDE/settings.json", "MAKEFILE", "Package.JSON", "claude.MD",
    ".g\u200cit/config", ".git./config", ".git /x", "git~1/config",
    ".hg/hgrc", ".jj/repo/config.toml", "lefthook-local.yml", ".pnp.cjs", ".rspec", ".rubocop.yml", "hie.yaml",
    ".ghci", "rust-toolchain.toml", "ansible.cfg", ".ycm_extra_conf.py", ".lvimrc", ".gitpod.yml", ".idx/dev.nix",
    ".run/a.run.xml", ".builds/a.yml", ".claude.json", "a/.claude-plugin/plugin.json", "SKILL.md", "go.work",
    "gradle/wrapper/gradle-wrapper.properties", "phpunit.xml",
    ".devin/rules.md", ".rules/x.md", ".sourcery.yaml", ".swiftlint.yml", ".vscode-test.mjs", ".new-tool/x", "a/.newrc",
    "BUILD", "sub/Snakefile", "Fastfile", "Guardfile", "Rakefile.local", "x.xcconfig", "CONVENTIONS.md",
    "src/../.git/config", "./.claude/../.claude/settings.json",
]  # fmt: skip


def test_no_rule_allows_a_file_by_which_other_programs_run_something(tmp_path):
    for path in RUNNING:
        for tool in ["Write", "Edit", "apply_patch"]:
            for ask in (edit(path, tmp_path, tool), edit(f"{tmp_path}/{path}", tmp_path, tool)):
                assert decided(ask, tmp_path) == decided(ask, tmp_path, folder=str(tmp_path)) == "ask", (path, tool)
            assert not can_remember(edit(path, tmp_path, tool)), (path, tool)


PLAIN = "src/a.py README.md docs/claude/x.md git/x src/update.py github.py test_x.py x.json .gitignore"
PLAIN += " LICENSE LICENSE-MIT README NOTICE VERSION src/Main.java src/.gitkeep .dockerignore .editorconfig bin/deploy"


def test_files_of_the_project_are_allowed(tmp_path):
    for path in PLAIN.split():
        assert decided(edit(path, tmp_path), tmp_path) == "allow", path


def test_links_lead_to_what_they_lead_to(tmp_path):
    folder, outside = tmp_path / "project", tmp_path / "outside"
    (folder / ".claude").mkdir(parents=True)
    outside.mkdir()
    (folder / "plain").symlink_to(".claude")
    (folder / "notes.md").symlink_to(".claude/settings.json")
    (folder / "out").symlink_to(outside)
    (folder / "away").symlink_to("../outside/new.txt")
    (folder / "loop").symlink_to("loop")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "in").symlink_to("deep/er")
    assert decided(edit("in/x.py", folder), folder) == "allow"
    for path in ("in/../../x", " /etc/x", "/etc/x ", "~/x", "~", "in/../plain/x"):
        assert decided(edit(path, folder), folder) == "ask", path
    for path in ("plain/settings.json", "notes.md", "out/x", "away", "out/../x", "plain/../../outside/x"):
        assert decided(edit(path, folder), folder) == "ask", path
    for path in ("a\0b", "\ud800/../../x"):
        assert decided(edit(path, folder), folder) == "ask", path
    assert decided(edit("loop2/x", folder), folder) == "allow"


def test_a_file_with_a_second_name_is_asked(tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text("{}")
    (tmp_path / "notes.md").hardlink_to(tmp_path / ".claude" / "settings.json")
    assert decided(edit("notes.md", tmp_path), tmp_path) == "ask"


def test_a_path_of_any_length_is_judged(tmp_path):
    for path in ("x" * 300, "x/" * 3000, f"{tmp_path}/{'y' * 300}/z"):
        assert decided(edit(path, tmp_path), tmp_path) in ("ask", "allow")


def test_a_folder_that_is_a_link_is_the_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "name").symlink_to("real")
    for cwd in ("real", "name"):
        assert decided(edit(tmp_path / "name" / "x.py", tmp_path / cwd), tmp_path / cwd) == "allow"


def test_a_worktree_in_the_folder_of_an_agent_is_as_any_other(tmp_path):
    folder = tmp_path / ".claude" / "worktrees" / "x"
    folder.mkdir(parents=True)
    assert decided(edit("src/a.py", folder), folder) == "allow"
    assert decided(edit(".claude/settings.json", folder), folder) == "ask"
    assert decided(edit("settings.json", tmp_path / ".claude"), tmp_path / ".claude") == "ask"
    assert decided(edit("worktrees/x/.git/config", tmp_path / ".claude"), tmp_path / ".claude") == "ask"


def test_the_state_folder_of_agentdash_is_not_written(tmp_path):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "agentdash.db").touch()
    assert decided(edit("state/sessions/x/turns/turn_1.jsonl", tmp_path), tmp_path) == "ask"


@pytest.mark.parametrize("tool", ["Read", "Grep", "Glob"])
def test_a_tool_that_reads_is_allowed_in_the_folder(tmp_path, tool):
    (tmp_path / "out").symlink_to("/etc")

    def reads(*paths):
        return Ask(key="k", kind=AskKind.TOOL, tool=tool, title="read", body="x", paths=paths, cwd=str(tmp_path))

    assert decided(reads("src/a.py"), tmp_path) == decided(reads(f"{tmp_path}/src"), tmp_path) == "allow"
    for path in ("/etc/passwd", "../x", "out/passwd", "out"):
        assert decided(reads(path), tmp_path) == "ask"
    assert decided(reads("/etc/passwd"), tmp_path, folder="/etc") == "allow"
