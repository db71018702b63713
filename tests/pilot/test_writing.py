"""Tools for writing a prompt: the search in earlier prompts, the editor, completed paths, templates."""

from pathlib import Path

import pytest
from factories import T0
from msgspec import structs

from agentdash.sessions.model.errors import SessionBusyError
from agentdash.sessions.model.session import Status, Step, StepKind
from agentdash.tui.dialogs.asking.confirm import ConfirmScreen
from agentdash.tui.dialogs.starting.new_session import NewSessionScreen
from agentdash.tui.dialogs.table.pick import FindScreen
from agentdash.tui.services.external_programs import ExternalPrograms
from pilot.examples import SESSIONS, session
from pilot.house import here
from pilot.test_marked import ENDED, marked
from pilot.test_table import said

SIZES = [(160, 45), (80, 24), (50, 24)]
LONG = "a/very/long/path/with/many/folders/before/the/name/of/the/file/login_form_of_the_page.py"


@pytest.fixture
def folder(tmp_path, manager):
    """The folder of a session with some files."""
    work = tmp_path / "work"
    for name in ("src/login.py", "src/logout.py", "README.md", ".env", LONG):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).touch()
    manager.put(session("here0001", Status.DONE, "in a folder", created=0, cwd=str(work)))
    return work


@pytest.fixture
def edits(monkeypatch):
    """What the editor writes into the file, or None if it fails; the files that it was given."""
    given = []

    class Edits:
        text = None
        files = given

    def run(self, argv, folder=None, **_):
        given.append((Path(argv[-1]).read_text(), Path(argv[-1]).stat().st_mode & 0o777))
        if Edits.text is not None:
            Path(argv[-1]).write_text(Edits.text)
        return Edits.text is not None

    monkeypatch.setenv("VISUAL", "ed")
    monkeypatch.setattr(ExternalPrograms, "_run", run)
    return Edits


def prompt(turn, text):
    """A prompt that is newer than all others; a later turn has a newer one."""
    return Step(turn=turn, index=0, kind=StepKind.PROMPT, text=text, at=T0 + turn)


async def writing(d, sid="here0001", text=""):
    await d.select(sid)
    await d.press("i", *text)
    return d.main.detail.prompt.input


@pytest.mark.parametrize("size", SIZES)
async def test_a_word_with_an_at_sign_offers_files_and_tab_takes_one(dashboard, folder, size):
    async with dashboard(size=size) as d:
        box = await writing(d, text="see @log")
        await d.shows("src/login.py")
        await d.shows("src/logout.py")
        await d.shows("login_form_of_the_page.py")
        assert ".env" not in d.text()
        await d.press("down", "tab")
        assert box.text == "see @src/logout.py"
        assert box.has_focus
        await d.until(lambda: "login.py" not in d.text())
        await d.press("enter")
        await d.sent("here0001", "see @src/logout.py")


async def test_enter_takes_a_path_and_the_next_one_sends(dashboard, folder):
    async with dashboard() as d:
        box = await writing(d, text="read (@READ")
        await d.shows("README.md")
        await d.press("enter")
        assert box.text == "read (@README.md"
        assert d.manager.asked_of("here0001") == []
        await d.press(")", "enter")
        await d.sent("here0001", "read (@README.md)")


async def test_a_path_that_was_typed_to_its_end_is_sent_by_the_first_enter(dashboard, folder):
    async with dashboard() as d:
        await writing(d, text="read @src/login.p")
        await d.shows("  src/login.py")
        await d.press("y", "enter")
        await d.sent("here0001", "read @src/login.py")


async def test_escape_closes_the_list_for_this_word_and_leaves_the_prompt_the_second_time(dashboard, folder):
    async with dashboard() as d:
        box = await writing(d, text="@log")
        await d.shows("src/login.py")
        await d.press("escape")
        await d.until(lambda: "src/login.py" not in d.text())
        await d.press("i")
        assert (box.text, box.offers.is_open, box.has_focus) == ("@logi", False, True)
        await d.press(*" @log")
        await d.shows("src/login.py")
        await d.press("escape", "escape")
        assert d.app.focused is d.main.table


async def test_an_address_a_recalled_text_and_an_unknown_path_offer_nothing(dashboard, folder, manager):
    manager.tell("failed01", [prompt(1, "look at @log")])
    async with dashboard() as d:
        box = await writing(d, text="ann@log")
        assert not box.offers.is_open
        await d.press("up")
        assert (box.text, box.offers.is_open) == ("look at @log", False)
        await d.press("down", *" @zzz", "enter")
        await d.sent("here0001", "ann@log @zzz")


async def test_the_list_closes_when_the_cursor_leaves_the_word_or_the_box(dashboard, folder):
    async with dashboard() as d:
        box = await writing(d, text="see @log")
        await d.until(lambda: box.offers.is_open)
        await d.press("home")
        assert not box.offers.is_open
        await d.press("end", "backspace")
        await d.until(lambda: box.offers.is_open)
        await d.press("shift+tab", "f2")
        assert box.has_focus
        d.main.set_focus(d.main.table)
        await d.until(lambda: not box.offers.is_open)


async def test_the_dialog_completes_paths_of_its_folder(dashboard, folder):
    async with dashboard(size=(80, 24)) as d:
        await d.select("here0001")
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        await d.press(*"fix @logo")
        await d.shows("src/logout.py")
        await d.press("tab")
        assert screen.fields.prompt.text == "fix @src/logout.py"
        assert screen.fields.prompt.has_focus


@pytest.mark.parametrize("size", SIZES)
async def test_earlier_prompts_are_searched_while_typing(dashboard, manager, size):
    texts = ["fix the login", "write docs\nfor the login form", "rebase"]
    manager.tell("failed01", [prompt(3 - n, text) for n, text in enumerate(texts)])
    async with dashboard(size=size) as d:
        box = await writing(d, "done0001", "my draft")
        await d.press("ctrl+r")
        await d.screen(FindScreen)
        await d.shows("rebase")
        await d.press(*"login")
        await d.until(lambda: "rebase" not in d.text())
        await d.press("ctrl+r")
        await d.shows("for the login form")
        await d.press("enter")
        await d.until(lambda: box.text == texts[1])
        assert box.has_focus
        assert d.app.drafts.get("done0001") == texts[1]
        await d.press("up", "up")
        assert box.text == "my draft"


async def test_a_search_that_is_left_keeps_the_draft(dashboard):
    async with dashboard() as d:
        box = await writing(d, "done0001", "my draft")
        await d.press("ctrl+r")
        await d.screen(FindScreen)
        await d.press(*"nothing like it")
        await d.shows("nothing matches")
        await d.press("enter", "escape")
        await d.until(lambda: d.app.screen is d.main)
        assert box.text == "my draft"


async def test_without_earlier_prompts_the_search_says_so(dashboard, manager):
    for one in SESSIONS:
        manager.tell(one.id, [])
    async with dashboard() as d:
        await writing(d, "done0001")
        await d.press("ctrl+r")
        await d.shows("No earlier prompts.")
        assert d.app.screen is d.main


async def test_the_editor_changes_the_prompt(dashboard, edits):
    edits.text = "better\nprompt\n"
    async with dashboard() as d:
        box = await writing(d, "done0001", "prompt")
        await d.press("ctrl+g")
        assert edits.files == [("prompt\n", 0o600)]
        assert box.text == "better\nprompt"
        assert d.app.drafts.get("done0001") == "better\nprompt"


async def test_an_editor_that_fails_leaves_the_prompt(dashboard, edits):
    async with dashboard() as d:
        box = await writing(d, "done0001", "prompt")
        await d.press("ctrl+g")
        assert len(edits.files) == 1
        assert box.text == "prompt"


async def test_the_dialog_has_the_editor_and_the_search_too(dashboard, manager, edits):
    manager.tell("failed01", [prompt(1, "add dark\nmode")])
    edits.text = "from the editor"
    async with dashboard() as d:
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        await d.press("ctrl+g")
        assert screen.fields.prompt.text == "from the editor"
        await d.press("ctrl+r")
        await d.screen(FindScreen)
        await d.press(*"dark", "enter")
        await d.until(lambda: screen.fields.prompt.text == "add dark\nmode")


async def test_a_template_is_inserted_into_the_prompt_with_its_fields_filled_in(dashboard, manager):
    manager.configure("""
[templates.quote]
text = "{{x}} {title} in {cwd}"
description = "the place"
[templates.other]
text = "other"
""")
    async with dashboard(size=(50, 24)) as d:
        await d.select("done0001")
        await d.press("f8")
        await d.shows("the place")
        await d.press(*"quo", "enter")
        box = d.main.detail.prompt.input
        await d.until(lambda: box.text == f"{{x}} write the migration in {here('/home/ann/code/api')}")
        assert box.has_focus


async def test_a_template_is_inserted_at_the_cursor_of_a_draft(dashboard, manager):
    manager.configure('[templates.id]\ntext = "{id}"\n')
    async with dashboard() as d:
        box = await writing(d, "done0001", "resume  now")
        await d.press(*["left"] * 4, "f8")
        await d.screen(FindScreen)
        await d.press("enter")
        await d.until(lambda: box.text == "resume done0001 now")
        await d.press("end", "f8")
        await d.screen(FindScreen)
        await d.press("enter")
        await d.until(lambda: box.text == "resume done0001 now\ndone0001")


async def test_a_typed_prompt_with_braces_is_sent_as_it_is(dashboard):
    async with dashboard() as d:
        await writing(d, "done0001", "use {} and {cwd} {{x}}")
        await d.press("enter")
        await d.sent("done0001", "use {} and {cwd} {{x}}")


async def test_a_template_without_a_value_is_refused_with_the_reason(dashboard, manager):
    manager.configure('[templates.quote]\ntext = "{last_message}"\n')
    async with dashboard() as d:
        box = await writing(d, "stopped1", "my draft")
        await d.press("f8")
        await d.screen(FindScreen)
        await d.press("enter")
        await d.shows("Template quote: {last_message} has no value for session stopped1")
        assert box.text == "my draft"


async def test_without_templates_the_key_says_where_they_are_made(dashboard):
    async with dashboard() as d:
        await d.press("f8")
        await d.shows("No templates: add [templates.NAME] to the settings.")


async def test_the_dialog_fills_a_template_in_for_the_start(dashboard, manager, folder):
    manager.configure('[templates.where]\ntext = "{agent} in {cwd}"\n')
    async with dashboard() as d:
        await d.select("here0001")
        await d.press("n")
        screen = await d.screen(NewSessionScreen)
        await d.press("f8")
        await d.screen(FindScreen)
        await d.press("enter")
        await d.until(lambda: screen.fields.prompt.text == f"codex in {folder}")


async def test_marked_sessions_get_a_template_filled_in_for_each_after_one_question(dashboard, manager):
    manager.configure('[templates.rebase]\ntext = "Rebase {id} onto {{main}}."\n')
    async with dashboard() as d:
        await marked(d, ENDED, Status.RUNNING)
        await d.press("f8", "enter")
        await d.screen(ConfirmScreen)
        await d.shows('Sends template rebase to each, filled in. The first gets "Rebase ended000 onto {main}.".')
        await d.press("y")
        await d.until(lambda: said(d).startswith("Sent to 3 sessions: "))
        for one in ENDED:
            assert d.manager.asked_of(one.id) == [f"Rebase {one.id} onto {{main}}."]


async def test_a_template_for_one_marked_session_is_in_the_box_that_sends_to_it(dashboard, manager):
    manager.configure('[templates.id]\ntext = "resume {id}"\n')
    async with dashboard() as d:
        await marked(d, ENDED[:1], Status.RUNNING)
        await d.press("f8", "enter")
        await d.until(lambda: d.main.detail.prompt.input.text == "resume ended000")
        await d.press("enter")
        await d.sent("ended000", "resume ended000")


async def test_a_broadcast_marks_what_refused_it_and_a_repetition_to_these_has_the_same_key(
    dashboard, manager, monkeypatch
):
    inject, reached, refusing = manager.prompts.inject, [], {"ended001", "ended002"}

    def sometimes(ref, prompt, options=None):
        reached.append((ref, options.key))
        if ref in refusing:
            raise SessionBusyError("It runs on another host.")
        return inject(ref, prompt, options)

    async def send(d, answer):
        await d.press("i", *"go on", "enter")
        await d.screen(ConfirmScreen)
        await d.press("y")
        await d.until(lambda: said(d).startswith(answer), answer)

    monkeypatch.setattr(manager.prompts, "inject", sometimes)
    async with dashboard() as d:
        await marked(d, ENDED, Status.RUNNING)
        await send(d, "2 failed: 2 sessions not changed and still marked.")
        assert '"ended 1": It runs on another host.' in said(d)
        assert [one.id for one in d.main.table.marked] == ["ended001", "ended002"]
        refusing.clear()
        await send(d, 'Sent to 2 sessions: "ended 1", "ended 2"')
        assert not d.main.table.marked
        for one in ENDED:
            manager.put(structs.replace(manager.get(one.id), status=Status.DONE))
            await d.select(one.id)
            await d.press("space")
        await send(d, "Sent to 3 sessions: ")
    assert [ref for ref, _ in reached] == ["ended000", *["ended001", "ended002"] * 2, *(one.id for one in ENDED)]
    keys = [key for _, key in reached]
    assert len(set(keys[:5])) == 1
    assert len(set(keys[5:])) == 1
    assert keys[5] != keys[0]
