"""Whatever a step holds, its rows fit, and nothing in them moves the cursor, reorders the text or hides it."""

import pytest

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.text.sanitize import cell_width
from agentdash.tui.render.steps import steps_text
from agentdash.tui.render.style import Style
from agentdash.widgets.drawing.glyphs import in_ascii
from agentdash.widgets.steps.step_document import step_document
from agentdash.widgets.steps.step_lines import BRIEF, USUAL, WHOLE, Manner, step_rows
from hostile import big, make, streams
from hostile.checks import check_rows, forbidden, index_of, parsed
from hostile.matrix import BIG, EVERY, widths
from hostile.texts import TEXTS, WORD

pytestmark = pytest.mark.usefixtures("scripted_agent")

LEVELS = (BRIEF, USUAL, WHOLE)
MOST_ROWS = 20_000
"""Of one step in a list: more cannot be looked through, and cost seconds and megabytes."""


@pytest.mark.torture
def test_rows_of_a_list_fit_and_hide_nothing():
    for path, agent in EVERY:
        for number, step in enumerate(parsed(path, agent_named(agent))):
            for width in widths(number):
                for level in LEVELS:
                    assert check_rows(step_rows(step, width, Manner(level=level)), width), (path.name, agent, number)


@pytest.mark.torture
def test_rows_of_a_document_fit_and_hide_nothing():
    for path, agent in EVERY:
        for number, step in enumerate(parsed(path, agent_named(agent))):
            for source in (False, True):
                document = step_document(step, cwd="/home/ann/code/api", source=source)
                for width in widths(number):
                    for item in range(len(document)):
                        assert check_rows(document.rows(item, width), width), (path.name, agent, number)


def test_lines_of_the_command_line_hide_nothing():
    for path, agent in EVERY:
        for full in [False, True]:
            lines = steps_text(parsed(path, agent_named(agent)), Style(full=full, width=100))
            assert forbidden("".join(lines), allowed="\t") == set(), (path.name, agent)


@pytest.mark.parametrize("agent", streams.EVENTS)
def test_rows_fit_whatever_the_types_of_the_fields(agent, tmp_path):
    path = tmp_path / "turn_1.jsonl"
    path.write_bytes(streams.misshapen(agent))
    for step in parsed(path, agent_named(agent)):
        check_rows(step_rows(step, 30), 30)
        document = step_document(step)
        for item in range(len(document)):
            check_rows(document.rows(item, 30), 30)


def test_the_words_between_can_be_read():
    """What is nasty takes none of its surroundings along."""
    for text, held in TEXTS.items():
        for agent in streams.EVENTS:
            steps = parsed(make.FILES / f"{agent}-{text}.jsonl", agent_named(agent))
            spoken = [step for step in steps if step.kind in ("message", "reasoning") and step.text]
            assert spoken, (text, agent)
            for step in spoken[:3]:
                rows = step_rows(step, 200, Manner(level=WHOLE))
                shown = sum("".join(part for part, _ in row).count(WORD) for row in rows)
                assert shown in range(held.count(WORD) - 6, held.count(WORD) + 1), (text, agent)


@pytest.mark.torture
@pytest.mark.parametrize(("big_file", "agent"), BIG)
def test_a_big_step_has_rows_that_fit_and_not_too_many(big_file, agent, tmp_path):
    path = big.write(tmp_path / "turn_1.jsonl", big.FILES[big_file]())
    index = index_of(path, agent_named(agent), block_bytes=1 << 20)
    for place in [*range(min(12, len(index))), *range(max(12, len(index) - 1), len(index))]:
        for level in LEVELS:
            for width in (20, 120):
                assert check_rows(step_rows(index.step(place), width, Manner(level=level)), width) < MOST_ROWS
        document = step_document(index.whole(place))
        for item in [*range(min(100, len(document))), len(document) - 1]:
            assert check_rows(document.rows(item, 60), 60) < MOST_ROWS


def test_a_terminal_that_knows_only_ascii_is_given_nothing_else():
    for path, agent in EVERY:
        for step in parsed(path, agent_named(agent))[:5]:
            for row in step_rows(step, 80, Manner()):
                assert all(in_ascii(part).isascii() and len(in_ascii(part)) == cell_width(part) for part, _ in row)
