"""The web page of a session: whole, safe, and the same whatever an agent says."""

import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from every_kind import STEPS, session
from hostile_text import REMOVED, nasty, steps_saying
from hypothesis import given

from agentdash.sessions.model.session import Status, Step, StepKind, StepStatus
from agentdash.sessions.transcript.export.html import html

VOID = {"meta", "br", "hr"}
TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "dl", "div", "dt", "dd", "span", "nav", "ol",
    "li", "main", "section", "h2", "article", "time", "p", "pre", "code", "details", "summary", "ins", "del", "ul", "b",
    "footer", "h3", "h4", "h5", "h6", "em", "strong", "s", "blockquote", "table", "thead", "tbody", "tr", "th", "td",
    "br", "hr",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "title", "dir", "datetime", "open",
    "aria-label", "start",
}  # fmt: skip


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self.opened: set[str] = set()
        self._inside: list[str] = []
        self._anchor = ""
        self.feed(text)
        self.close()
        assert self._inside == [], "every tag is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.attributes |= set(given)
        if "href" in given:
            self.links.append(given["href"])
        if "id" in given:
            self.ids.append(given["id"])
            self._anchor = given["id"]
        if tag == "details" and "open" in given:
            self.opened.add(self._anchor)
        if tag not in VOID:
            self._inside.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._inside.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._anchor, []).append(data)

    def text(self, anchor: str) -> str:
        """All that stands behind an anchor, up to the next."""
        return "".join(self.texts[anchor])


def page(steps: list[Step], **facts: object) -> Page:
    return Page("".join(html(session(**facts), steps)))


def test_everything_that_was_said_and_done_is_there() -> None:
    found = page(STEPS)
    text = "".join(part for parts in found.texts.values() for part in parts)
    for step in STEPS:
        for said in (step.command, step.output, step.event, *(item.text for item in step.items)):
            assert (said or "").strip() in text
    assert "src/clock.py" in text
    assert "docs.search_docs" in text
    assert "+    now = clock()" in text
    assert '"limit": 3' in text
    assert "19,151 (18,240 in, 12,000 cached, 911 out, 207 reasoning)" in text
    assert "$0.31" in text
    assert "It fails once in twenty runs." in text
    assert "Error, fatal" in text
    assert "Error, not fatal" in text
    assert '{"type":"item.odd","x":[1,2]}' in text


def test_every_step_has_an_anchor_and_every_link_of_the_page_leads_to_one() -> None:
    found = page(STEPS)
    assert [anchor for anchor in found.ids if "-s" in anchor] == [f"t{s.turn}-s{s.index}" for s in STEPS]
    assert len(set(found.ids)) == len(found.ids)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)


def test_the_overview_counts_what_each_turn_did() -> None:
    found = page(STEPS)
    told = " ".join(found.text("turns").split())
    assert "Turn 1 fix the flaky login test in tests/login" in told
    assert "3 commands · 1 failed · 2 files changed" in told
    assert "Turn 2 also bump the version 2 commands · 1 failed · 0 files changed" in told
    assert "#t1-s4" in found.links
    assert "#t2-s4" in found.links


def test_a_command_that_failed_shows_its_output_and_others_fold_theirs() -> None:
    opened = page(STEPS).opened
    assert "t1-s4" in opened
    assert not opened & {"t1-s2", "t1-s9", "t1-s13"}


def test_messages_are_rendered_and_their_headings_stand_below_the_page_s() -> None:
    found = page([Step(kind=StepKind.MESSAGE, text="# Done\n\nIt *works*:\n\n- one\n\n|a|b|\n|-|-:|\n|1|2|")])
    assert found.tags.count("h1") == 1
    assert {"h3", "em", "ul", "table", "td"} <= set(found.tags)
    assert "style" not in found.attributes


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[a](https://e.example/x) <mailto:ann@e.example>", ["https://e.example/x", "mailto:ann@e.example"]),
        ("![shot](http://e.example/p.png)", ["http://e.example/p.png"]),
        ("[a](javascript:alert(1)) <javascript:x> [b](data:text/html,x) [c](file:///etc/passwd)", []),
        ("[a](&#106;avascript:x) [b](java&#10;script:x) [c](//e.example) [d](src/x.py) [e](vbscript:x)", []),
        ("[a][b]\n\n[b]: https://e.example", []),
    ],
)
def test_links_lead_to_pages_and_mail_only_and_nothing_is_loaded(text: str, links: list[str]) -> None:
    found = page([Step(kind=StepKind.MESSAGE, text=text)])
    assert [link for link in found.links if not link.startswith("#")] == links
    assert "img" not in found.tags


def test_the_definition_of_a_link_is_shown_and_not_swallowed() -> None:
    found = page([Step(kind=StepKind.MESSAGE, text="[b]: https://e.example/hidden")])
    assert "https://e.example/hidden" in found.text("t1-s0")


def test_what_is_too_long_or_too_deep_for_markdown_is_shown_as_it_is() -> None:
    deep = "> " * 60 + "the bottom"
    assert "the bottom" in page([Step(kind=StepKind.MESSAGE, text=deep)]).text("t1-s0")
    long = "*a* " * 60_000
    assert long in page([Step(kind=StepKind.MESSAGE, text=long)]).text("t1-s0")


@given(nasty)
def test_no_text_of_an_agent_becomes_a_tag_an_attribute_or_a_control_character(text: str) -> None:
    whole = "".join(html(session(title=text, reason=text, model=text, cwd=text), steps_saying(text)))
    found = Page(whole)
    assert set(found.tags) <= TAGS
    assert found.attributes <= ATTRIBUTES
    assert found.tags.count("style") == 1
    assert all(link.startswith(("#", "http://", "https://", "mailto:")) for link in found.links)
    assert not set(whole) & REMOVED
    assert "the last command" in found.text("t1-s100")


def test_the_page_runs_nothing_and_loads_nothing() -> None:
    whole = "".join(html(session(), STEPS))
    [style] = re.findall(r"<style>(.*?)</style>", whole, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in whole
    assert "url(" not in style
    assert "@import" not in style
    assert not re.search(r"<(script|img|link|iframe|object|embed|form|input)\b", whole)


def luminance(colour: str) -> float:
    channels = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_text_can_be_read_on_its_ground(scheme: int) -> None:
    whole = "".join(html(session(), STEPS))
    palettes = re.findall(r":root \{(.*?)\}", whole, re.DOTALL)
    assert len(palettes) == 2
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", palettes[scheme]))
    grounds = {
        "ground": ("text", "muted", "link", "good", "bad", "warn"),
        "raised": ("text", "muted", "link"),
        "asked": ("text", "muted", "link"),
        "added": ("good",),
        "removed": ("bad",),
    }
    for ground, texts in grounds.items():
        for text in texts:
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_a_session_without_steps_says_so_and_unknown_is_not_zero() -> None:
    found = page([], status=Status.QUEUED, model=None, cost_usd=None, ended_at=None, exit_code=None)
    assert "No steps yet." in found.text("steps")
    facts = found.text("top")
    assert "Modelunknown" in facts
    assert "Costunknown" in facts
    assert "Exit" not in facts


def test_the_reason_of_a_failure_stands_beside_the_status() -> None:
    facts = page([], status=Status.FAILED, reason="401 invalid\nAPI key: revoked").text("top")
    assert "failed 401 invalid API key: revoked" in " ".join(facts.split())


def test_steps_are_read_one_by_one() -> None:
    drawn: list[int] = []

    def steps() -> Iterator[Step]:
        for number in range(5):
            drawn.append(number)
            yield Step(index=number, kind=StepKind.COMMAND, command=f"echo {number}", status=StepStatus.OK)

    pieces = html(session(), steps())
    assert next(piece for piece in pieces if "echo 0" in piece)
    assert drawn == [0]
    assert "echo 4" in "".join(pieces)


def test_a_failed_start_has_its_command_and_what_it_said() -> None:
    step = Step(
        kind=StepKind.ERROR,
        text="exit 127",
        fatal=True,
        command="codex exec -",
        exit_code=127,
        output="codex: <not> found",
    )
    page = "".join(html(session(), [step]))
    assert '<pre class="command"><code>codex exec -</code></pre>' in page
    assert page.count('<span class="ending">exit 127</span>') == 1
    assert "codex: &lt;not&gt; found" in page
    assert "t1-s0" in Page(page).opened
