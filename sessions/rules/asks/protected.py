"""The files by which other programs run something: no rule lets an agent write one.

A program reads such a file by its name, without the user who names it, and the file names commands, plugins or
programs: the settings and instructions of agents, git's own folder and hooks, editors, shells, environments, package
scripts, builds and CI.

Two rules cover those that no list can name, as each new tool reads another one: what is hidden in the folder, and what
has a capital and no ending (``Makefile``, ``BUILD``), but for a few known harmless names.  The list has the others.
The source of the project itself is not in it, although a test runs it.
"""

import os
import re
import stat
import unicodedata
from pathlib import Path

from agentdash.sessions.rules.asks.places import LONGEST, NOWHERE, real, resolved


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EVERYWHERE = _names(".git .claude .codex .agents .gemini .cursor .mcp.json")
"""Folders and files that count wherever they are, also if the whole session works in such a folder."""

_WORKTREES = _names(".claude .codex")
"""Of these, agents keep worktrees in a folder ``worktrees``, in which sessions work as in any other."""

_FOLDERS = _names(
    ".aider .crush .goose .trae .junie .kilocode .amazonq .factory .amp .augment .cline .continue .copilot .kiro"
    " .opencode .qwen .roo .windsurf .zed .vscode .vscode-server"
    " .idea .fleet .nova .vim .nvim .emacs.d .devcontainer .github .gitlab .circleci .buildkite .forgejo .gitea"
    " .woodpecker .teamcity .husky .githooks .ssh .gnupg .docker .kube .aws .config .local .direnv .mise .asdf .cargo"
    " .rustup .mvn .gradle .m2 .yarn .bundle .ipython .jupyter .npm .pnpm .bun .deno .terraform.d .agentdash"
    " .hg .jj .svn .run .idx .builds .tekton .irb .helix .warp .pi .openhands .tabnine .claude-plugin .git-hooks"
    " node_modules launchagents launchdaemons autostart systemd cron.d"
)
_FILES = _names(
    # agents
    ".agentdash.toml agents.md agents.override.md claude.md claude.local.md gemini.md copilot-instructions.md"
    " skill.md conventions.md warp.md .continuerc.json .claude.json"
    " .cursorrules .windsurfrules .clinerules .roomodes .aider.conf.yml .goosehints opencode.json"
    " opencode.jsonc qwen.md .rules crush.json mcp.json .mcp.json .devcontainer.json"
    # git, and the names of its hooks
    " .git .gitattributes .gitmodules .gitconfig .lfsconfig .gitignore_global .pre-commit-config.yaml"
    " .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml"
    " lefthook.toml lefthook-local.yml lefthook-local.yaml .lefthook-local.yml .overcommit.yml .hgrc .lintstagedrc"
    " .huskyrc applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit"
    " prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update"
    " proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite"
    " sendemail-validate fsmonitor-watchman post-index-change"
    # environments and shells
    " .envrc .env .tool-versions mise.toml .mise.toml .rtx.toml .python-version .nvmrc .node-version .bashrc"
    " .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc"
    " .cshrc .tcshrc .login .logout .xprofile .xinitrc .xsession .xsessionrc .inputrc .tmux.conf .screenrc .gdbinit"
    " .lldbinit .pdbrc .pythonrc .pythonrc.py .irbrc .pryrc .rprofile .perltidyrc .netrc .curlrc .wgetrc .ripgreprc"
    " .ackrc .lesskey .lessfilter .psqlrc .sqliterc .my.cnf .vimrc .gvimrc .exrc .nexrc .nvimrc .nvim.lua .emacs"
    " .direnvrc .ruby-version .ghci .ocamlinit .luacheckrc .rspec .rubocop.yml .lvimrc .ycm_extra_conf.py .clangd"
    " hie.yaml .swcrc .terraformrc .replit .dir-locals.el .dir-locals-2.el .nanorc flake.nix shell.nix default.nix"
    " devbox.json"
    # packages and builds
    " package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml deno.json deno.jsonc"
    " lerna.json nx.json turbo.json makefile gnumakefile bsdmakefile justfile .justfile taskfile.yml taskfile.yaml"
    " rakefile gemfile gulpfile.js gruntfile.js cakefile sconstruct sconscript wscript meson.build cmakelists.txt"
    " cmakepresets.json configure build.rs cargo.toml build.gradle build.gradle.kts settings.gradle"
    " settings.gradle.kts gradle.properties gradlew mvnw pom.xml build.sbt build.xml mix.exs rebar.config project.clj"
    " build.zig package.swift composer.json workspace build.bazel module.bazel .bazelrc pyproject.toml setup.py pipfile"
    " .pnp.cjs .pnp.loader.mjs rust-toolchain rust-toolchain.toml go.work podfile brewfile .bazeliskrc"
    " gradle-wrapper.properties phpunit.xml phpunit.xml.dist .php-cs-fixer.php ansible.cfg setup.cfg tox.ini"
    " noxfile.py pytest.ini .coveragerc conftest.py manage.py tasks.py fabfile.py dodo.py"
    " sitecustomize.py usercustomize.py pip.conf .pypirc .pylintrc"
    # CI, containers and deployment
    " .gitlab-ci.yml .gitlab-ci.yaml .gitpod.yml .build.yml .travis.yml .drone.yml .cirrus.yml .appveyor.yml"
    " appveyor.yml azure-pipelines.yml"
    " bitbucket-pipelines.yml jenkinsfile .woodpecker.yml action.yml action.yaml dockerfile containerfile"
    " docker-compose.yml docker-compose.yaml compose.yml compose.yaml vagrantfile procfile tiltfile skaffold.yaml"
    " earthfile crontab cloudbuild.yaml buildspec.yml netlify.toml vercel.json codemagic.yaml"
)
_HARMLESS = _names(
    ".gitignore .gitkeep .keep .mailmap .ignore .rgignore .fdignore .dockerignore .npmignore .eslintignore"
    " .prettierignore .stylelintignore .editorconfig .nojekyll .hgignore .git-blame-ignore-revs"
)
"""Hidden files that name no program: lists of what is left out, and texts."""

_DOCUMENTS = _names(
    "readme license licence copying copyright notice authors contributors maintainers changelog changes history news"
    " todo version install thanks credits patents security codeowners"
)
"""Files with a capital and no ending that are for people."""

_ENDINGS = (
    ".mk", ".pth", ".code-workspace", ".sublime-project", ".desktop", ".service", ".timer", ".plist", ".cmake",
    ".gradle", ".csproj", ".vbproj", ".fsproj", ".targets", ".props", ".gemspec", ".xcconfig",
)  # fmt: skip
_BEGINNINGS = (
    ".env.", ".bash", ".zsh", "makefile.", "rakefile.", "requirements", ".eslintrc", ".prettierrc", ".babelrc",
    ".lintstagedrc.", ".mocharc", ".stylelintrc", "dockerfile.",
)  # fmt: skip
_CONFIGURATION = tuple(f".config.{kind}" for kind in ("json", "js", "cjs", "mjs", "ts", "mts", "cts"))
"""The settings of a JavaScript tool are a program."""

_STATE = "agentdash.db"
"""The file that is in the state folder of agentdash, and nowhere else."""


def runs_something(path: str, folder: str, cwd: str, *, hidden: bool = False) -> bool:
    """Return whether a path names, or leads to, a file by which another program runs something.

    Args:
        folder: the folder in which the agent may write; an absolute path.
        cwd: the folder in which a relative path begins.
        hidden: only hidden files and those in hidden folders count: a build is told the name of its ``Makefile``.
    """
    found = real(path, cwd)
    if found == NOWHERE:
        return True
    text, place = resolved(path, cwd), real(folder, "/")
    inside = {found: place, real(text, "/"): place, text: resolved(folder, "/")}
    if any(_is_such(place, within, hidden) for place, within in inside.items()):
        return True
    return _is_state(found) or _has_other_names(found)


def _is_such(place: str, folder: str, hidden: bool) -> bool:
    parts = [_plain(part) for part in place.split("/")]
    above = len([part for part in folder.split("/") if part]) + 1
    for number, part in enumerate(parts):
        kept = part in _WORKTREES and number + 1 < above and parts[number + 1 : number + 2] == ["worktrees"]
        if part in _EVERYWHERE and not kept:
            return True
        if number >= above and part in _FOLDERS and (part.startswith(".") or not hidden):
            return True
        if number >= above and part.startswith(".") and part not in _HARMLESS and not hidden:
            return True
    return _is_such_name(parts[-1], hidden) or (not hidden and _is_build(place.rpartition("/")[2]))


def _is_such_name(name: str, hidden: bool) -> bool:
    if hidden and not name.startswith("."):
        return False
    return name in _FILES or name.endswith((*_ENDINGS, *_CONFIGURATION)) or name.startswith(_BEGINNINGS)


def _is_build(name: str) -> bool:
    """Return whether a name is of the kind of ``Makefile`` and ``BUILD``."""
    return "." not in name and name[:1].isupper() and re.split("[-_]", name.casefold())[0] not in _DOCUMENTS


def _plain(part: str) -> str:
    """Return a part of a path as file systems compare it that ignore case, invisible characters or last dots."""
    shown = "".join(one for one in unicodedata.normalize("NFKC", part) if unicodedata.category(one) != "Cf")
    short = shown.casefold().rstrip(". ")
    return ".git" if short == "git~1" else short


def _has_other_names(place: str) -> bool:
    """Return whether a file has a second name, which may be one of these."""
    try:
        found = Path(place).stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink > 1


def _is_state(place: str) -> bool:
    """Return whether a path is in a state folder of agentdash; True if it is too long for that of a file."""
    if len(place) > LONGEST:
        return True
    return any(os.path.lexists(folder / _STATE) for folder in Path(place).parents)
