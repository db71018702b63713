"""The images of prompts: what is taken, the marks in the text, and the copies."""

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.launch import Launch
from agentdash.sessions.rules.prompts.images import MOST_BYTES, MOST_IMAGES, marked, plain_name, typed
from agentdash.sessions.runner.queue.next_turn import with_images as in_launch
from agentdash.sessions.service.prompts.attaching import attached, has_images
from agentdash.sessions.storage.files.images import pictures_in, with_images
from agentdash.sessions.storage.paths import SessionFolder

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 2_000
JPEG = b"\xff\xd8\xff\xe0" + b"y" * 20


@pytest.fixture
def folder(tmp_path):
    return SessionFolder(tmp_path / "sessions" / "11111111")


@pytest.fixture
def cwd(tmp_path):
    """The session's folder with files."""
    cwd = tmp_path / "project"
    (cwd / "docs").mkdir(parents=True)
    (cwd / "shot.png").write_bytes(PNG)
    (cwd / "docs" / "a b.JPG").write_bytes(JPEG)
    (cwd / "fake.png").write_text("no image")
    return cwd


def add(folder, text, cwd, *files, most=MOST_BYTES):
    return with_images(folder, text, [str(cwd / file) for file in files], str(cwd), most)


def test_files_are_added_behind_the_text_and_typed_ones_in_their_place(folder, cwd):
    text = add(folder, "compare @shot.png with this", cwd, "docs/a b.JPG")
    assert text == "compare [image shot.png 2.0 kB] with this\n\n[image a_b.JPG 24 B]"
    assert [(one.name, one.media_type, one.data) for one in pictures_in(folder, text)] == [
        ("shot.png", "image/png", PNG), ("a_b.JPG", "image/jpeg", JPEG),
    ]  # fmt: skip
    assert {path.stat().st_mode & 0o777 for path in folder.images.iterdir()} == {0o600}


def test_the_copy_counts_whatever_becomes_of_the_file(folder, cwd):
    text = add(folder, "see @shot.png", cwd)
    (cwd / "shot.png").write_bytes(PNG + b"changed")
    assert pictures_in(folder, text)[0].data == PNG
    again = add(folder, "and now @shot.png", cwd)
    assert "[image shot-2.png 2.0 kB]" in again
    assert pictures_in(folder, again)[0].data == PNG + b"changed"
    assert add(folder, "again", cwd, "shot.png") == "again\n\n[image shot-2.png 2.0 kB]"
    assert len(list(folder.images.iterdir())) == 2


def test_a_file_that_cannot_be_used_is_named_with_the_reason(folder, cwd):
    (cwd / "large.png").write_bytes(PNG + b"x" * MOST_BYTES)
    for file, reason in {
        "gone.png": r"No such image: .*gone\.png\.", "docs": "is not a file",
        "fake.png": "is not an image that agents take", "large.png": r"is too large: at most 5\.0 MB",
    }.items():  # fmt: skip
        with pytest.raises(UsageError, match=reason):
            add(folder, "see", cwd, file)
    with pytest.raises(UsageError, match=r"The images have 2\.0 kB: the agent takes at most 100 B in one prompt"):
        add(folder, "see", cwd, "shot.png", most=100)
    for number in range(MOST_IMAGES + 1):
        (cwd / f"{number}.png").write_bytes(PNG + bytes([number]))
    with pytest.raises(UsageError, match="21 images are too many"):
        add(folder, "see", cwd, *(f"{number}.png" for number in range(MOST_IMAGES + 1)))
    assert not folder.images.exists()


def test_typed_names_are_those_of_images_alone():
    for text, found in {
        "see @shot.png, please": ["shot.png"], "@a/b.jpeg": ["a/b.jpeg"], "mail me@shot.png": [],
        r"quoted \@shot.png": [],
        "@main.py": [], "@shot.png.txt": [], "@x.PNG @x.PNG": ["x.PNG"], "(@x.webp)": ["x.webp"],
    }.items():  # fmt: skip
        assert typed(text) == found, text
    assert has_images("@shot.png", (), by_user=True)
    assert not has_images("@shot.png", (), by_user=False), "an agent's words name no file"


def test_a_typed_file_that_is_not_there_stays_a_name(folder, cwd):
    assert add(folder, "see @gone.png", cwd) == "see @gone.png"


def test_names_have_no_characters_that_a_mark_cannot_have():
    for name, plain in {
        "a\n[x].png": "a__x_.png", "..png": "image.png", ".png": "image.png", "x" * 300 + ".png": "x" * 60 + ".png",
        "\x1b[31m.png": "__31m.png", "ü.png": "ü.png",
    }.items():  # fmt: skip
        assert plain_name(name, set()) == plain, name
        assert marked(f"[image {plain} 12 kB]") == [plain]
    assert plain_name("a.png", {"a.png", "a-2.png"}) == "a-3.png"


def test_a_mark_reaches_no_other_file(folder, cwd, tmp_path):
    add(folder, "see @shot.png", cwd)
    (folder.images / "link.png").symlink_to(cwd / "shot.png")
    (folder.images / "text.png").write_text("no image")
    text = (
        "[image ../runner.lock 1 kB] [image .. 1 kB] [image link.png 1 kB] [image text.png 1 kB] [image gone.png 1 B]"
    )
    assert pictures_in(folder, text) == []


def test_an_agent_that_takes_none_refuses_files_and_keeps_typed_names(folder, cwd):
    for name, transport, says in (
        ("command", "", "takes no images. Name the file in the prompt instead"),
        ("claude", "", r"takes no images in a process of one turn \(live = false\)"),
    ):
        agent = agent_named(name)
        with pytest.raises(UsageError, match=says):
            attached(agent, transport, folder, "see", [str(cwd / "shot.png")], str(cwd), by_user=True)
        assert attached(agent, transport, folder, "see @shot.png", [], str(cwd), by_user=True) == "see @shot.png"
    codex, file = agent_named("codex"), [str(cwd / "shot.png")]
    assert "[image " in attached(codex, "", folder, "see @shot.png", [], str(cwd), by_user=True)
    text = attached(codex, "", folder, "see @shot.png", file, str(cwd), by_user=False)
    assert text == "see @shot.png\n\n[image shot.png 2.0 kB]"


def test_codex_exec_gets_an_option_for_each_image(folder, cwd):
    text, codex = add(folder, "see @shot.png", cwd, "docs/a b.JPG"), agent_named("codex")
    files = ("-i", str(folder.images / "shot.png"), "-i", str(folder.images / "a_b.JPG"))
    start = Launch(argv=("codex", "exec", "--json", "-"), stdin=text)
    assert in_launch(start, codex, folder).argv == ("codex", "exec", *files, "--json", "-")
    resumed = Launch(argv=("codex", "exec", "--json", "resume", "--", "id", "-"), stdin=text)
    assert in_launch(resumed, codex, folder).argv == ("codex", "exec", "--json", "resume", *files, "--", "id", "-")
    live = Launch(argv=("codex", "app-server"), stdin=text, transport="app-server", plain_argv=start.argv)
    assert in_launch(live, codex, folder).argv == live.argv
    assert in_launch(live, codex, folder).plain_argv == ("codex", "exec", *files, "--json", "-")
