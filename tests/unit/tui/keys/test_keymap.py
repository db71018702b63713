"""The registry of keys, and what the settings make of it."""

import re
import string
from functools import partial
from itertools import combinations

import pytest
from factories import T0
from msgspec import structs
from places import ROOT

from agentdash.sessions.model.errors import ConfigError
from agentdash.sessions.model.session import Status
from agentdash.sessions.settings.config import read_settings
from agentdash.tui.dialogs.help import help_text, matching, overview, sections
from agentdash.tui.keys.action import MENUS, Place
from agentdash.tui.keys.actions import (
    ACTIONS,
    APP_ACTIONS,
    LINES_KEYS,
    PANE_ACTIONS,
    REGISTRY,
    STEPS_KEYS,
    TABLE_ACTIONS,
    TABLE_KEYS,
    VIEWER_ACTIONS,
)
from agentdash.tui.keys.availability import possible, unlike
from agentdash.tui.keys.footer import (
    ASKING,
    CHANGES,
    DAILY,
    FILTERING,
    IN_STEPS,
    ONE_STEP,
    WRITING,
    footer,
    labelled,
    valid_keys,
    whole,
)
from agentdash.tui.keys.key_names import shown, textual_name
from agentdash.tui.keys.keymap import DEFAULT, NEVER, Keymap, UnusableKeyError, keymap, keys_in_force
from agentdash.tui.services.actions.session_actions import TARGET_ACTIONS
from agentdash.widgets.steps.filtered_steps import GROUPS
from pilot.examples import session

RUNNING = session("running1", Status.RUNNING, "split it", created=1)

EATEN = {
    "ctrl+a": "screen's prefix",
    "ctrl+b": "tmux's prefix",
    "ctrl+s": "flow control",
    "ctrl+q": "flow control",
    "ctrl+z": "job control",
    "ctrl+o": "the terminal of BSD and macOS",
    "ctrl+backslash": "SIGQUIT",
    "ctrl+v": "paste in Windows Terminal",
    "shift+up": "scrolling", "shift+down": "scrolling", "shift+left": "tabs", "shift+right": "tabs",
    "ctrl+enter": "Enter without the Kitty protocol", "shift+enter": "Enter without the Kitty protocol",
}  # fmt: skip


def refused(stated):
    with pytest.raises(UnusableKeyError) as raised:
        keymap(stated)
    return raised.value.path, str(raised.value)


def test_no_default_key_is_eaten_on_its_way():
    taken = {(action.id, key) for action in REGISTRY.values() for key in action.named if key in EATEN}
    assert taken == {("suspend", "ctrl+z")}  # which is what ctrl+z is for


def test_the_defaults_are_keys_by_their_right_names():
    for action in REGISTRY.values():
        assert action.help
        for key in action.acting:
            one = key.rpartition(" ")[2]
            assert one == "space" or len(shown(one)) < len(one) or one in shown(one).lower() or len(one) == 1, key


def test_no_default_does_two_things_in_the_same_pane():
    for place in Place:
        narrow = [action for action in REGISTRY.values() if action.where == {place}]
        for one, other in combinations(narrow, 2):
            assert not set(one.acting) & set(other.acting), (place, one.id, other.id)


DAILY_KEYS = {*"jk/wiaxcyRnU?", "enter", "escape"}
"""The fifteen keys of every day, in the table as in the steps."""

TYPED = {*string.ascii_letters, "slash", "question_mark", "enter", "escape"}
"""Keys that every keyboard has without AltGr and without a function key."""


def test_the_keys_of_every_day_are_the_same_in_the_table_and_in_the_steps():
    for place in (Place.TABLE, Place.STEPS):
        daily = [name for names, _ in DAILY for name in names.split() if name not in ("command_line", "quit")]
        ids = [IN_STEPS.get(name, name) if place is Place.STEPS else name for name in daily]
        found = {DEFAULT.keys(REGISTRY[name])[0] for name in ids}
        assert {shown(key) for key in found} == {
            shown(key if len(key) > 1 else textual_name(key)) for key in DAILY_KEYS
        }
        assert all(place in REGISTRY[name].where for name in ids)


def test_no_key_of_every_day_or_of_a_menu_needs_alt_gr_or_a_function_key():
    daily = {key for names, _ in DAILY for name in names.split() for key in REGISTRY[name].named[:1]}
    assert daily - TYPED == {"colon"}  # of the command line, which is Shift and a full stop, or a key of its own
    for action in REGISTRY.values():
        for key in action.named:
            menu, blank, inner = key.partition(" ")
            assert not blank or (menu in MENUS and inner in set(string.ascii_letters)), (action.id, key)


def test_every_action_of_a_session_screen_is_a_daily_key_or_in_a_menu_or_a_command():
    daily = {name for names, _ in DAILY for name in names.split()} | set(IN_STEPS.values())
    commands = {
        action.id for action in (*ACTIONS, *TABLE_KEYS, *TABLE_ACTIONS, *STEPS_KEYS, *LINES_KEYS, *VIEWER_ACTIONS)
    }
    for action in REGISTRY.values():
        if action.where & {Place.TABLE, Place.STEPS}:
            in_menu = any(" " in key for key in action.named)
            others = action.id.startswith("menu.") or action in (*PANE_ACTIONS, *APP_ACTIONS)
            assert action.id in daily or in_menu or action.id in commands or others, action.id


def test_no_two_actions_share_a_key_in_a_place():
    for place in Place:
        there = [action for action in REGISTRY.values() if place in action.where]
        for one, other in combinations(there, 2):
            shared = set(one.named) & set(other.named)
            inside = len(one.where) != len(other.where)  # a key of a pane takes precedence over that of the screen
            assert not shared or (inside and shared <= OVERLAID), (place, one.id, other.id, shared)


OVERLAID = {"n", "u", "m u", "enter", "escape", "shift+tab"}
"""Keys that mean something else inside a pane: during a search, and for the last step back."""


def test_without_settings_the_defaults_are_in_force():
    assert keymap({}) == DEFAULT
    assert DEFAULT.for_textual() == {}
    assert DEFAULT.names(REGISTRY["table.down"]) == "j  Down"


def test_an_action_gets_a_key_several_or_none():
    made = keymap({"stop": "ctrl+x", "table.down": ["ctrl+n", "down"], "archive": "", "steps": {"copy": "f5"}})
    assert made.for_textual() == {
        "stop": "ctrl+x", "table.down": "ctrl+n,down", "archive": NEVER, "steps.copy": "f5",
    }  # fmt: skip
    assert made.name("stop") == "Ctrl+X"
    assert made.name("archive") == ":archive"


def test_two_actions_can_change_their_keys():
    made = keymap({"retry": "x", "stop": "R"})
    assert made.name("retry") == "x"
    assert made.name("stop") == "R"


def test_an_unknown_action_says_what_is_near():
    assert refused({"stpo": "x"}) == (
        ("stpo",),
        "Unknown action 'stpo'. Did you mean stop or step.down? List them: agentdash config keys.",
    )
    assert "table.page_down" in refused({"page_down": "x"})[1]
    assert refused({"table": {"dwn": "x"}})[0] == ("table", "dwn")


def test_an_unknown_key_says_how_keys_are_written():
    path, why = refused({"stop": "hyper+x"})
    assert path == ("stop",)
    assert why.startswith("Unknown key 'hyper+x'. Examples: x, X, ?")


def test_a_clash_names_both_actions_and_where():
    path, why = refused({"stop": "n"})
    assert path == ("stop",)
    assert why == (
        "n cannot be bound to stop: it is new_session (start a session) in table, steps, step; "
        "rebind new_session too, or unbind it."
    )
    assert "it is steps.next_failure" in refused({"stop": ")"})[1]
    assert "it is menu.go" in refused({"stop": "g"})[1]
    assert "it is usage" in refused({"stop": "g u"})[1]
    assert "it is table.mark" in refused({"stop": "space"})[1]
    both = refused({"stop": "f7", "kill": "f7"})[1]
    assert "stop" in both
    assert "kill" in both


def test_a_key_of_a_menu_follows_the_key_that_opens_the_menu():
    made = keymap({"menu": {"go": "ctrl+e"}, "stop": "m x", "archive": "g Y"})
    assert made.name("stop") == "m x"
    assert made.name("usage") == "Ctrl+E u"
    assert made.for_textual() == {"menu.go": "ctrl+e", "stop": "m x", "archive": "g Y"}


def test_a_key_of_no_menu_names_the_menus():
    assert refused({"stop": "b x"}) == (
        ("stop",),
        "'b x': 'b' is not a menu. The menus are g (go to), z (view), m (this session).",
    )


def test_a_key_of_an_earlier_release_gives_way_to_an_action_that_wants_it():
    made = keymap({"stop": "f2", "table.fold": "d"})
    assert made.acting(REGISTRY["mouse"]) == ("z m",)
    assert made.acting(REGISTRY["table.density"]) == ("z d",)
    assert made.acting(REGISTRY["usage"]) == ("g u", "dollar_sign")
    assert made.for_textual() == {
        "mouse": "z m", "table.density": "z d", "stop": "f2", "table.fold": "d",
    }  # fmt: skip


def test_the_same_key_in_two_panes_is_no_clash():
    found = keymap({"table.first": "ctrl+t", "steps.first": "ctrl+t"})
    assert [found.keys(REGISTRY[name]) for name in ("table.first", "steps.first")] == [("ctrl+t",), ("ctrl+t",)]


@pytest.mark.parametrize("key", ["escape", "ctrl+c", "tab"])
def test_some_keys_are_not_to_be_had(key):
    assert "which cannot be rebound" in refused({"stop": key})[1]


def test_what_must_keep_its_keys_keeps_them():
    assert refused({"back": "x"})[1] == "back cannot be rebound (Esc)."
    assert "cannot be rebound" in refused({"prompt.send": "f5"})[1]


def test_typing_stays_typing():
    assert refused({"prompt.new_line": "x"})[1] == "x types text in a prompt and cannot be bound there."
    keymap({"stop": "Z"})  # in a prompt it is text


def test_a_key_that_a_prompt_has_is_refused_to_the_screen_around_it():
    assert "it is prompt.new_line" in refused({"stop": "ctrl+j"})[1]


def can(action, *, read_only=False):
    """What can be done to a session that runs."""
    return possible(action, RUNNING, read_only=read_only)


def test_a_process_that_waits_for_prompts_can_be_stopped():
    done = session("done1", Status.DONE, "split it", created=1)
    warm = structs.replace(done, warm_since=1)
    assert [possible("stop", one) for one in (done, warm)] == [False, True]
    assert len(unlike([done, warm])) == 2
    assert not possible("interrupt_turn", warm)


def test_sessions_differ_by_what_was_read_of_them():
    unread = structs.replace(RUNNING, id="unread", seen_at=None, steps=9, seen_steps=0)
    read = structs.replace(unread, id="read", seen_at=T0, seen_steps=9)
    assert [possible("mark_read", one) for one in (unread, read)] == [True, False]
    for marked in ([unread, read], [read, unread]):
        assert any(possible("mark_read", one) for one in unlike(marked))


def test_the_footer_says_the_keys_in_force():
    made = keymap({"stop": "Z", "archive": "", "new_session": ""})
    told = dict(footer(made, can, 200))
    assert told["Z"] == "stop"
    assert "x" not in told
    assert "new" not in told.values()


def test_a_key_that_means_something_else_in_the_steps_is_not_in_their_footer():
    assert ("n", "new") in footer(DEFAULT, can, 300)
    assert ("n", "new") in footer(DEFAULT, can, 300, reading=True)
    assert ("n", "new") not in valid_keys(DEFAULT, Place.STEPS, can, 300, searching=True)
    assert ("n", "next match") in valid_keys(DEFAULT, Place.STEPS, can, 300, searching=True)


@pytest.mark.parametrize("pairs", [WRITING, ONE_STEP, CHANGES])
def test_lines_of_keys_follow_the_settings(pairs):
    assert len(labelled(DEFAULT, pairs)) == len(pairs)
    gone = [name for names, _ in pairs for name in names.split() if not REGISTRY[name].fixed]
    assert len(labelled(Keymap(dict.fromkeys(gone, ())), pairs)) < len(pairs)


def all_lines(found):
    return [f"{keys} {told}" for _, pairs in found for keys, told in pairs]


def test_the_help_has_every_action_once():
    told = [pair for _, pairs in sections(DEFAULT, Place.TABLE) for pair in pairs]
    assert len(told) == len(REGISTRY)
    expected = sorted((DEFAULT.names(action), action.help) for action in REGISTRY.values())
    for (keys, what), (theirs, help_) in zip(sorted(told, key=_without_label), expected, strict=True):
        assert keys == theirs
        assert what.endswith(help_)


def _without_label(pair):
    """A line of the help as the registry has it."""
    keys, what = pair
    label, colon, rest = what.partition(": ")
    return keys, rest if colon and label in {action.label for action in REGISTRY.values()} else what


def test_the_help_says_the_keys_in_force_and_how_to_reach_what_has_none():
    lines = all_lines(sections(keymap({"stop": "Z", "archive": ""}), Place.TABLE))
    assert any(line.startswith("Z stop the session") for line in lines)
    assert ":archive archive the session (undo restores it)" in lines


def test_the_help_shows_first_what_is_valid_here():
    assert next(iter(sections(DEFAULT, Place.TABLE)))[0] == "sessions"
    assert next(iter(sections(DEFAULT, Place.STEPS)))[0] == "steps"
    assert next(iter(sections(DEFAULT, Place.PROMPT)))[0] == "prompt"
    assert "n new: start a session" in all_lines(sections(DEFAULT, Place.STEPS))


def test_the_help_begins_with_the_keys_of_every_day_and_the_three_menus():
    for place in (Place.TABLE, Place.STEPS):
        (_, daily), *menus = overview(DEFAULT, place)
        keys = [key for keys, _ in daily for key in keys.split()]
        assert set(keys) >= {*"jk/wiaxcyRnU?", "Enter", "Esc"}, place
        assert [heading for heading, _ in menus] == ["g  go to", "z  view", "m  this session"]
        assert ("u", "usage") in menus[0][1], place
        assert ("A", "archive") in menus[2][1], place
    shown = dict(next(iter(overview(DEFAULT, Place.TABLE, read_only=True)))[1])
    assert shown["Enter"] == "read"
    assert not shown.keys() & {*"ixRnU"}


def test_the_help_of_a_screen_without_menus_has_each_of_its_keys_once():
    for place in (Place.FILES, Place.USAGE):
        *parts, (_, always) = sections(DEFAULT, place)
        for heading, part in parts:
            told = [key for keys, _ in (*part, *always) for key in keys.split("  ")]
            assert len(told) == len(set(told)), (place, heading)


def test_the_help_of_a_screen_without_a_table_tells_only_what_does_something_there():
    found = list(sections(DEFAULT, Place.STEPS, table=False))
    assert "sessions" not in [heading for heading, _ in found]
    lines = all_lines(found)
    for told in ("start a session", "move the session to the trash", "side by side", "shrink table"):
        assert any(told in line for line in all_lines(sections(DEFAULT, Place.STEPS)))
        assert not any(told in line for line in lines)
    for told in ("stop the session", "search all steps", "next pane"):
        assert any(told in line for line in lines)


def test_the_help_is_filtered_by_key_and_by_word():
    found = list(sections(DEFAULT, Place.TABLE))
    assert all_lines(matching(found, "x")) == ["x stop the session and all its processes (asks first)"]
    assert all_lines(matching(found, "archive")) == [
        "g a archived sessions",
        "m A archive the session (undo restores it)",
        "u  m u undo the last delete or archive",
    ]
    assert "m D delete: move the session to the trash (asks first)" in all_lines(matching(found, "TRASH"))
    assert all_lines(matching(found, "/trash")) == all_lines(matching(found, "trash"))
    assert "No key matches" in help_text(matching(found, "xyzzy")).plain


def test_a_dashboard_that_only_looks_offers_nothing_that_changes():
    for action in ACTIONS:
        if action.changes:
            assert not possible(action.id, RUNNING, read_only=True)
    labels = {label for _, label in footer(DEFAULT, partial(can, read_only=True), 300)}
    assert not labels & {action.label for action in ACTIONS if action.changes}
    assert "help" in labels
    told = all_lines(sections(DEFAULT, Place.TABLE, read_only=True))
    assert not any("stop the session" in line for line in told)


def test_a_broken_line_is_an_error_with_its_place(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('[dashboard]\n\n[keys]\n"table.down" = "j"\nstop = "n"\n')
    with pytest.raises(ConfigError) as raised:
        keys_in_force(read_settings(path))
    assert str(raised.value).startswith(f"{path}:5: keys.stop: n cannot be bound to stop: it is new_session")


def test_the_default_keys_of_the_readme_and_the_guide_are_true():
    text = "".join(path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))))
    tables = re.findall(r"^\| key \|.*\n\| ---.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    rows = [row.split(" | ")[0] for table in tables for row in table.splitlines()]
    written = [key.replace("\\", "") for row in rows for key in re.findall(r"`([^`]+)`", row)]
    known = {DEFAULT.shown(key) for action in REGISTRY.values() for key in action.named}
    assert len(written) > 30
    assert [key for key in written if key not in known] == []


@pytest.mark.parametrize(
    ("place", "in_field", "shown_first"),
    [
        (Place.PROMPT, False, labelled(DEFAULT, WRITING)[0]),
        (Place.STEP, False, labelled(DEFAULT, ONE_STEP)[0]),
        (Place.TABLE, True, FILTERING[0]),
        (Place.STEPS, True, ASKING[0]),
        (Place.STEPS, False, ("/", "search")),
        (Place.TABLE, False, ("n", "new")),
    ],
)
def test_the_last_line_has_the_keys_of_the_place_that_has_the_focus(place, in_field, shown_first):
    assert valid_keys(DEFAULT, place, can, 300, in_field=in_field)[0] == shown_first


def test_every_action_that_needs_only_its_sessions_has_a_function():
    assert {action.id for action in ACTIONS if action.on_target} == TARGET_ACTIONS.keys()


def test_a_footer_without_room_drops_whole_pairs_and_keeps_the_way_back():
    pairs = [("Enter", "edit"), ("Esc", "back"), ("type", "filter"), ("Up Down", "move")]
    assert whole(pairs, 50) == pairs
    assert whole(pairs, 49) == pairs[:3]
    assert whole(pairs, 25) == pairs[:2]
    assert whole([*pairs[2:], pairs[1]], 30) == [pairs[2], pairs[1]]
    assert whole(pairs, 1) == [("Esc", "back")]


def test_each_kind_of_steps_is_named_at_its_key():
    told = dict(next(sections(DEFAULT, Place.STEPS))[1])
    for group in GROUPS:
        assert told[group.key] == f"toggle {group.label}"


def test_the_key_that_paints_everything_again_gives_way_to_another_action() -> None:
    made = keymap({"prompt": {"new_line": "ctrl+l"}})
    assert made.keys(REGISTRY["prompt.new_line"]) == ("ctrl+l",)
    assert made.keys(REGISTRY["redraw"]) == ()
    assert keymap({}).keys(REGISTRY["redraw"]) == ("ctrl+l",)
