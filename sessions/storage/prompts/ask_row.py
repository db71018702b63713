"""An ask as its row has it: bounded, and with a note of what it lacks."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import structs

from ...asks.answers import title_repeats_body
from ...asks.model import MOST_BODY_BYTES, Ask, Choice, Question
from ...text.sanitize import shorten
from ...text.unhidden import unhidden

MOST_TEXT = 4_000
"""Characters of a title, a reason, or the name of a tool."""
MOST_PATHS = 1_000
"""Paths of one ask."""
MOST_QUESTIONS = 100
"""Questions of one ask, and choices of one question."""
MOST_QUESTION_BYTES = 256 * 1024
"""Bytes of all questions of one ask."""


def bounded(ask: Ask) -> Ask:
    """Return the ask without the ends of very long texts, and with text that can be encoded."""
    questions = tuple(_bounded_questions(ask.questions))
    short = structs.replace(
        ask,
        key=encodable(ask.key),
        tool=_short(ask.tool),
        title=_short(unhidden(ask.title)),
        why=_short(ask.why),
        always=_short(ask.always),
        body=_cut_body(ask.body),
        paths=tuple(encodable(path) for path in ask.paths[:MOST_PATHS]),
        cwd=encodable(ask.cwd),
        questions=questions,
    )
    return structs.replace(short, left_out=", ".join(_left_out(ask, short)))


def encodable(text: str) -> str:
    """Return the text with ``?`` for halves of surrogate pairs, which no column can hold."""
    return text.encode("utf-8", "replace").decode()


def _left_out(ask: Ask, short: Ask) -> Iterator[str]:
    """Yield each part of an ask that its row lacks, if the user would allow it unseen."""
    size = len(ask.body.encode("utf-8", "replace"))
    if size > MOST_BODY_BYTES:
        yield f"{size - MOST_BODY_BYTES:,} of {size:,} bytes of its text"
    if len(ask.paths) > MOST_PATHS:
        yield f"{len(ask.paths) - MOST_PATHS:,} of {len(ask.paths):,} files"
    if len(ask.tool) > MOST_TEXT or len(ask.always) > MOST_TEXT:
        yield "the end of a name"
    if len(unhidden(ask.title)) > MOST_TEXT and not title_repeats_body(ask):
        yield "the end of its title"
    if len(short.questions) < len(ask.questions):
        yield f"{len(ask.questions) - len(short.questions):,} of {len(ask.questions):,} questions"
    if any(_is_cut(one) for one in ask.questions[:MOST_QUESTIONS]):
        yield "the end of a question"


def _is_cut(question: Question) -> bool:
    texts = (question.text, question.header, *(one.description for one in question.choices[:MOST_QUESTIONS]))
    return len(question.choices) > MOST_QUESTIONS or any(len(text) > MOST_TEXT for text in texts)


def _bounded_questions(questions: Sequence[Question]) -> Iterator[Question]:
    """Yield the first questions, up to `MOST_QUESTION_BYTES`, that can be named in an answer."""
    size = 0
    for question in questions[:MOST_QUESTIONS]:
        short = _bounded_question(question)
        size += len(msgspec.json.encode(short))
        if size > MOST_QUESTION_BYTES:
            return
        if _is_name(question.key):
            yield short


def _bounded_question(question: Question) -> Question:
    """Return the question with the choices that can be named in an answer."""
    return structs.replace(
        question,
        key=encodable(question.key),
        text=_short(question.text),
        header=_short(question.header),
        choices=tuple(
            Choice(label=encodable(one.label), description=_short(one.description))
            for one in question.choices[:MOST_QUESTIONS]
            if _is_name(one.label)
        ),
    )


def _is_name(text: str) -> bool:
    """Return whether an answer can name a question or a choice: a name that is cut would name nothing."""
    return len(text) <= MOST_TEXT


def _short(text: str) -> str:
    return shorten(encodable(text), MOST_TEXT)


def _cut_body(body: str) -> str:
    """Return the body, cut to `MOST_BODY_BYTES` with a mark of its real size."""
    data = body.encode("utf-8", "replace")
    if len(data) <= MOST_BODY_BYTES:
        return data.decode()
    return data[:MOST_BODY_BYTES].decode("utf-8", "ignore") + f"\n[cut: {len(data):,} bytes in all]"
