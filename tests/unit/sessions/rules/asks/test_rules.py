"""Asks decided by the user's rules, by what the user allowed before, and by the time limit."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdash.sessions.rules.asks.dangerous import UNPLACED, only_the_user
from agentdash.sessions.rules.asks.model import Answer, Ask, AskKind, Verdict
from agentdash.sessions.rules.asks.rules import ALWAYS, decide, for_agent
from agentdash.sessions.rules.asks.settings import AskRule, AsksSettings

HERE = "/home/ann/api"


def command(line, **facts):
    usual = {"key": "k", "kind": AskKind.COMMAND, "tool": "Bash", "title": f"run: {line}", "body": line, "cwd": HERE}
    return Ask(**usual | facts)


def edit(*paths, **facts):
    return Ask(key="k", kind=AskKind.EDIT, tool="Write", title="edit", paths=paths, **{"cwd": HERE, **facts})


def rules(*stated):
    return tuple(msgspec.convert(one, AskRule) for one in stated)


def decided(ask, *stated, **facts):
    return decide(rules(*stated), ask, **{"agent": "claude", "cwd": HERE, **facts}).decide


ALLOW_GIT_LOG = {"decide": "allow", "command": "git log"}
ALLOW_BASH = {"decide": "allow", "tool": "Bash"}


def test_without_rules_the_user_is_asked():
    decision = decide((), command("ls"), agent="claude", cwd=HERE)
    assert (decision.decide, decision.by, decision.answer) == ("ask", "", None)


@pytest.mark.parametrize("words", ["git log", ["git", "log"], "git  log"])
def test_a_command_is_allowed_by_its_first_words(words):
    rule = {"decide": "allow", "command": words}
    assert decided(command("git log --oneline"), rule) == "allow"
    assert decided(command("/bin/bash -lc 'git log -5'"), rule) == "allow"
    for other in ("git logs", "git", "git push", "/tmp/git log", "git -C /x log", "env git log", "agit log"):
        assert decided(command(other), rule) == "ask", other


def test_only_a_whole_simple_command_is_matched_by_its_words():
    for line in [
        "git log; ls", "git log && ls", "git log | sh", "git log || x", "git log & x", "git log $(x)", "git log `x`",
        "git log > x", "git log >/dev/null", "git log 2>&1", "git log < x", "git log\nls", "A=b git log",
        "git log $X", "git log *", "git log {a,b}", "'git' log", "g\"i\"t log", "git log 'a'b", "git log #x",
        "git \\log",
        "(git log)", "git\u00a0log", "git log \u202e", "git log --output=/etc/x", "git log <<E\nE", "git log ~",
        "git log a\\;b", "",
    ]:  # fmt: skip
        assert decided(command(line), ALLOW_GIT_LOG) == "ask", line


def test_the_first_rule_that_fits_decides():
    deny = {"decide": "deny", "command": "git push"}
    assert decided(command("git push"), deny, ALLOW_BASH) == "deny"
    assert decided(command("git push"), {"decide": "allow", "command": "git push"}, deny) == "allow"
    assert decided(command("git log"), {"decide": "ask", "command": "git"}, ALLOW_BASH) == "ask"
    assert decided(command("ls"), deny, ALLOW_BASH) == "allow"


@pytest.mark.parametrize(
    "line", ["ls; rm x", "/bin/rm x", "timeout 5 rm x", "rm x >/dev/null", "nice rm x", "$(echo rm) x", "r''m x"]
)
def test_what_a_rule_may_deny_is_not_allowed_by_a_later_one(line):
    assert decided(command(line), {"decide": "deny", "command": "rm"}, ALLOW_BASH) == "ask"


def test_options_between_the_words_of_a_rule_that_denies_make_it_unsure():
    deny = {"decide": "deny", "command": "git push"}
    assert decided(command("git -C sub push"), deny, ALLOW_BASH) == "ask"
    assert decided(command("git -C sub log"), deny, ALLOW_BASH) == "allow"


def test_what_a_rule_denies_is_not_allowed_under_another_name():
    for line in [
        "git send-pack origin main", "git -C sub push", "git --no-pager push", "/usr/bin/git push", "env git push",
        "git-push x",
        "make 'git push'", "make git-push", "timeout 5 git push", "hub push", "nice git push", "python3 x.py git push",
        "npm exec git push", "make a && git push", "make x=git y=push", "xgit 'sh -c \"git push\"'",
        "make push-git git/push",
    ]:  # fmt: skip
        deny, named = {"decide": "deny", "command": "git push"}, {"decide": "allow", "command": line.split()[:1]}
        assert decided(command(line), deny, named, ALLOW_BASH) == "ask", line


def test_another_program_or_verb_for_the_same_act_is_not_allowed_later():
    for denied, line in [
        ("rm", "unlink x"), ("rm", "mv a b"), ("python", "python3.12 x.py"), ("npm", "pnpm test"), ("make", "gmake"),
        ("cat", "head a"),
        ("git log", "git show"), ("git diff", "git log -p"), ("git show", "git cat-file -p HEAD"), ("grep", "rg x"),
        ("pip", "uv add x"),
    ]:  # fmt: skip
        named = {"decide": "allow", "command": line.split()[:1]}
        assert decided(command(line), {"decide": "deny", "command": denied}, ALLOW_BASH, named) == "ask", (denied, line)


def test_a_rule_that_names_a_program_allows_it_with_what_follows():
    for words in ("make", "npm test", "pytest", "./mark", "cargo", "python3 manage.py", "git push", "git commit -m"):
        assert decided(command(f"{words} x"), {"decide": "allow", "command": words}) == "allow"
        assert decided(command(f"{words} x"), ALLOW_BASH) == "ask"
        assert decided(command(f"{words} x"), {"decide": "allow", "folder": "/"}) == "ask"
    for line in ("make; ls", "make x > y", "make -C ../other", "make .git/hooks/x", "make SHELL=/tmp/sh"):
        assert decided(command(line), {"decide": "allow", "command": "make"}) == "ask"


def test_conditions_of_a_rule_are_all_needed():
    rule = {"decide": "allow", "tool": "Bash", "agent": "codex", "command": "ls"}
    assert decided(command("ls"), rule, agent="codex") == "allow"
    assert decided(command("ls"), rule) == "ask"
    assert decided(command("ls", tool="Shell"), rule, agent="codex") == "ask"
    assert decided(edit("a.py"), {"decide": "allow", "command": "ls"}) == "ask"


def test_a_dangerous_command_is_asked_whatever_a_rule_allows():
    decision = decide(rules({"decide": "allow", "command": "rm"}), command("rm -rf x"), agent="claude", cwd=HERE)
    assert (decision.decide, decision.why) == ("ask", "it acts on whole folders")
    assert decided(command("rm -rf x"), ALLOW_BASH) == "ask"
    assert decided(command("rm -rf x"), {"decide": "deny", "tool": "Bash"}) == "deny"


def test_a_rule_allows_edits_in_the_folder_of_the_session_alone():
    allow = {"decide": "allow", "tool": "Write"}
    assert decided(edit("src/a.py", f"{HERE}/b.py"), allow) == "allow"
    for paths in (("../x",), ("/etc/passwd",), ("a.py", "a/../../x"), (f"{HERE}2/x",), (".git/hooks/x",), ()):
        assert decided(edit(*paths), allow) == "ask", paths
    assert decided(edit("x", cwd="/etc"), allow) == "ask"
    assert decided(command("ls", cwd="/etc"), ALLOW_BASH) == "ask"


def test_a_folder_is_that_of_all_paths():
    allow = {"decide": "allow", "folder": "docs"}
    assert decided(edit("docs/a.md", "docs/b/../c.md"), allow) == "allow"
    assert decided(edit("docs/../a.md"), allow) == "ask"
    assert decided(edit("docs/a.md", "b.md"), allow) == "ask"
    assert decided(edit("/srv/x/a"), {"decide": "allow", "folder": "/srv/x"}) == "allow"
    assert decided(command("cat a.md", cwd=f"{HERE}/docs"), allow) == "allow"
    assert decided(command("cat docs/a.md"), allow) == "ask"
    for line in ("cat /etc/passwd", "cat ../a.md", "cat --x=/etc/y", "cat -o/etc/y", "cat `x`"):
        assert decided(command(line, cwd=f"{HERE}/docs"), allow) == "ask", line


def test_a_rule_that_denies_a_folder_makes_edits_that_touch_it_unsure():
    deny = {"decide": "deny", "folder": "secret"}
    assert decided(edit("secret/a"), deny, {"decide": "allow"}) == "deny"
    assert decided(edit("secret/a", "b"), deny, {"decide": "allow"}) == "ask"
    assert decided(edit("b"), deny, {"decide": "allow"}) == "allow"


def test_a_rule_that_denies_a_folder_keeps_commands_from_it(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "way").symlink_to("secret")
    deny, here = {"decide": "deny", "folder": "secret"}, str(tmp_path)
    for line in ("cat way/x", "grep -r x .", "ls", "rg x", "find . -name x", "git grep x", "cat secret/x README"):
        assert decided(command(line, cwd=here), deny, ALLOW_BASH, cwd=here) in ("ask", "deny"), line
    assert decided(command("cat README", cwd=here), deny, ALLOW_BASH, cwd=here) == "allow"
    assert decided(edit("way/x", cwd=here), deny, {"decide": "allow", "tool": "Write"}, cwd=here) != "allow"


@pytest.mark.parametrize("kind", [AskKind.PLAN, AskKind.PERMISSIONS, AskKind.QUESTION, AskKind.FORM])
def test_no_rule_allows_a_plan_wider_permissions_or_an_answer(kind):
    one = Ask(key="k", kind=kind, tool="ExitPlanMode", title="plan")
    assert decided(one, {"decide": "allow"}) == decided(one, {"decide": "allow", "tool": "ExitPlanMode"}) == "ask"
    assert decided(one, {"decide": "deny"}) == "deny"


def test_another_tool_is_allowed_by_its_name():
    one = Ask(key="k", kind=AskKind.TOOL, tool="WebFetch", title="fetch")
    assert decided(one, {"decide": "allow"}) == "ask"
    assert decided(one, {"decide": "allow", "tool": "WebFetch"}) == "allow"


def test_the_agent_is_answered_only_what_it_takes():
    assert decided(command("ls", verdicts=(Verdict.ALLOW,)), {"decide": "deny"}) == "ask"
    assert decided(command("ls", verdicts=(Verdict.DENY,)), ALLOW_BASH) == "ask"


def test_an_answer_names_its_rule():
    [rule] = rules(ALLOW_GIT_LOG | {"tool": "Bash"})
    decision = decide([rule], command("git log"), agent="claude", cwd=HERE)
    assert (decision.by, decision.answer) == ("rule: allow tool Bash, command git log", Answer(verdict=Verdict.ALLOW))
    denied = decide(rules({"decide": "deny"}), command("ls"), agent="claude", cwd=HERE).answer
    assert denied == Answer(verdict=Verdict.DENY, message="Denied by a rule: deny all.")


def test_what_was_always_allowed_is_allowed_again_if_it_is_the_same():
    before = [command("touch x && ls")]
    decision = decide((), command("touch x && ls", key="k2"), agent="claude", cwd=HERE, remembered=before)
    assert (decision.decide, decision.by) == ("allow", ALWAYS)
    for other in (command("touch x"), command("touch x && ls", cwd="/"), command("touch x && ls", tool="Sh")):
        assert decided(other, remembered=before) == "ask"
    assert decided(before[0], {"decide": "deny"}, remembered=before) == "deny"
    question = Ask(key="k", kind=AskKind.QUESTION, title="?")
    assert decided(question, remembered=[question]) == "ask"


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf x",
        "sudo ls",
        "git push -f",
        "touch $X",
        "cat x > y",
        "touch .git/x",
        "python3 '-cx'",
        "git log --output=x",
    ],
)
def test_a_dangerous_command_is_asked_although_the_same_was_always_allowed(line):
    assert decided(command(line), remembered=[command(line)]) == "ask"


def test_what_the_user_must_decide_each_time_is_never_decided_otherwise():
    ask = command("ls", each_time=True)
    assert decided(ask, ALLOW_BASH, remembered=[command("ls")]) == "ask"
    assert decided(ask, {"decide": "deny"}) == "deny"


def test_an_agent_without_always_is_allowed_once():
    always = Answer(verdict=Verdict.ALWAYS, message="x")
    assert for_agent(command("ls"), always) == Answer(verdict=Verdict.ALLOW, message="x")
    assert for_agent(command("ls", verdicts=(Verdict.ALWAYS,), always="ls"), always) == always
    assert for_agent(command("ls"), Answer(verdict=Verdict.DENY)) == Answer(verdict=Verdict.DENY)


def settings(**stated):
    return msgspec.convert(stated, AsksSettings)


def test_the_time_limit_denies_or_stops_and_never_allows():
    ask = command("ls")
    assert (settings().due_at(ask, 5), settings().overdue(ask)) == (None, None)
    assert settings(timeout="15m").due_at(ask, 5) is None
    deny, stop = settings(timeout="15m", on_timeout="deny"), settings(timeout="90", on_timeout="stop")
    assert (deny.due_at(ask, 5), stop.due_at(ask, 5)) == (900_005, 90_005)
    assert deny.overdue(ask) == Answer(verdict=Verdict.DENY, message="No answer within 15m.")
    assert stop.overdue(ask).verdict is Verdict.STOP
    assert stop.overdue(command("ls", verdicts=(Verdict.ALLOW, Verdict.DENY))).verdict is Verdict.DENY
    undecided = command("ls", verdicts=(Verdict.ALLOW, Verdict.ALWAYS))
    assert (deny.overdue(undecided), deny.due_at(undecided, 5)) == (None, None)


ASKS = st.builds(
    Ask,
    kind=st.sampled_from(AskKind),
    verdicts=st.lists(st.sampled_from(Verdict)).map(tuple),
    body=st.text() | st.sampled_from(["git log", "rm -rf x", "ls; $(x)", "touch /etc/x"]),
    paths=st.lists(st.text() | st.sampled_from(["a", "../b", "/etc/x", ".git/x"])).map(tuple),
    questions=st.just(()),
)
RULES = st.builds(
    AskRule,
    decide=st.sampled_from(["allow", "deny", "ask"]),
    tool=st.none() | st.sampled_from(["", "Bash"]),
    command=st.none() | st.sampled_from(["git", "git log", "rm"]),
    folder=st.none() | st.sampled_from(["/", "docs", "/etc"]),
)


@given(st.lists(RULES, max_size=4), ASKS)
def test_any_ask_is_decided_and_its_answer_is_one_that_the_agent_takes(stated, ask):
    decision = decide(stated, ask, agent="claude", cwd=HERE)
    if decision.answer is not None:
        assert decision.answer.verdict in ask.verdicts
        assert decision.by.startswith(f"rule: {decision.decide}")


@given(st.lists(RULES, max_size=3), st.sampled_from(["rm -rf x", "sudo ls", "git push -f", "$(x)", "ls > x"]))
def test_no_rules_allow_a_dangerous_command(stated, line):
    assert decided(command(line), *map(msgspec.to_builtins, stated)) != "allow"


def test_an_agent_in_a_folder_that_is_not_known_is_asked_about_what_its_folder_decides():
    """A sub-agent of claude in a worktree of its own: the paths of its commands lead to other files."""
    named = {"decide": "allow", "command": "npm test"}
    secret = {"decide": "deny", "tool": "Bash", "folder": "secrets"}
    assert (
        decided(command("git -C fix status", unplaced=True), ALLOW_BASH, {"decide": "allow", "command": "git"}) == "ask"
    )
    assert decided(command("timeout 5 cat a", unplaced=True), {"decide": "allow", "command": "timeout"}) == "ask"
    assert decided(command("npm test", unplaced=True), named) == "allow"
    assert decided(command("npm test", unplaced=True), secret, named) == "ask"
    assert decided(command("cat a", unplaced=True), remembered=[command("cat a", unplaced=True)]) == "ask"
    write = {"decide": "allow", "tool": "Write"}
    assert [decided(edit(path, unplaced=True), write) for path in (f"{HERE}/a", "a")] == ["allow", "ask"]
    assert only_the_user(command("cat a", unplaced=True), HERE) == UNPLACED
