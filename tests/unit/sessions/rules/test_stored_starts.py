"""The starts in the database and in the records of sessions: what is stored of them, and that it can be read."""

import msgspec

from agentdash.sessions.model.compaction import Compaction
from agentdash.sessions.rules.launch import Command, Launch, Terms, TurnPlan, plan_like
from agentdash.sessions.rules.limits.limits import Limits

COMMAND = Command(argv=("codex", "app-server"), stdin="go", model="m", transport="app-server", opening=("hello",))
PLAN = TurnPlan(settings={"live": True}, model="m", terms=Terms(limits=Limits(tokens=5), warnings=("careful",)))
STORED = {"settings": {"live": True}, "model": "m", "frame": {"limits": {"tokens": 5}, "warnings": ["careful"]}}


def test_a_plan_is_read_whose_terms_have_an_empty_command_beside_them():
    beside = {"argv": [], "stdin": None, "env": {}, "settings": {}, "model": "m", "transport": "app-server", "how": ""}
    stored = STORED | {"argv": [], "on_failure": "hold", "frame": STORED["frame"] | beside}
    assert msgspec.json.decode(msgspec.json.encode(stored), type=TurnPlan) == PLAN


def test_a_plan_is_stored_as_it_is_read():
    stored = msgspec.json.decode(msgspec.json.encode(PLAN))
    assert set(stored) == {"settings", "model", "argv", "frame", "on_failure"}
    assert "argv" not in stored["frame"]
    assert msgspec.json.decode(msgspec.json.encode(PLAN), type=TurnPlan) == PLAN


def test_a_launch_is_stored_flat():
    launch = PLAN.launch(COMMAND, how="native", conversation="c")
    stored = msgspec.json.decode(msgspec.json.encode(launch))
    assert (stored["argv"], stored["limits"]["tokens"], stored["how"]) == (["codex", "app-server"], 5, "native")
    assert msgspec.json.decode(msgspec.json.encode(launch), type=Launch) == launch


def test_a_launch_has_the_warnings_of_its_terms_which_include_those_of_its_command():
    assert PLAN.launch(Command(argv=("x",), warnings=("not live",))).warnings == ("careful",)


def test_the_plan_of_a_prompt_like_a_turn_has_its_terms_and_compacts_nothing():
    launch = PLAN.on(compacts=Compaction()).launch(COMMAND, how="retold")
    assert plan_like(launch) == PLAN
