"""Which last messages ask the user something, and which only sound like it."""

import json

from places import CAPTURES

from agentdash.sessions.rules.prompts.questions import question

ASKING = {
    "Which of the two should I keep?": "Which of the two should I keep?",
    "All tests pass.\n\nShould I also update the changelog?": "Should I also update the changelog?",
    "I found two ways:\n\n1. Freeze the clock\n2. Inject it\n\nWhich one do you prefer?": "Which one do you prefer?",
    "Which one do you prefer?\n\n1. Freeze the clock\n2. Inject it": "Which one do you prefer?",
    "Which one do you prefer?\n- **Freeze** the clock\n- `inject` it": "Which one do you prefer?",
    "Open questions:\n- Drop Python 3.10?\n- The old API stays.": "Drop Python 3.10?",
    "May I delete `build/`? I left it in place for now.": "May I delete …?",
    "**Do you want me to push?**": "Do you want me to push?",
    "Is [the staging database](https://db.example.org/?a=b) safe to wipe?": "Is the staging database safe to wipe?",
    "I cannot go on. Please confirm that the table may be dropped.": "Please confirm that the table may be dropped.",
    "Tell me which branch to use.": "Tell me which branch to use.",
    "Let me know whether the second migration should go in too.": (
        "Let me know whether the second migration should go in too."
    ),
    "I need your approval before I run the migration.": "I need your approval before I run the migration.",
    "The build is ready. Waiting for your decision.": "Waiting for your decision.",
    "Both work. It's your call.": "It's your call.",
    "Which region?\n\nI will continue once I know.": "Which region?",
    "Which region? Let me know and I'll continue.": "Which region?",
    "どのブランチを使いますか\uff1f": "どのブランチを使いますか?",
    "I can go either way. It\u2019s your call.": "It's your call.",
    "Shall I rename it (all 40 files)?": "Shall I rename it (all 40 files)?",
    "(Shall I rename all 40 files?)": "(Shall I rename all 40 files?)",
    "Which one?\n\n```sh\nmake a\nmake b\n```": "Which one?",
}

ASKING_NOTHING = (
    "",
    "Done: notes.txt was created and edited.",
    "Why did it fail? The test read the clock twice.",
    "Why did it fail?\n\nThe test read the clock in two different seconds, so I froze it.",
    "All 19 tests pass. Anything else?",
    "Is there anything else I can help with?",
    "Let me know if you have any questions.",
    "Let me know if you want me to add a test for it.",
    "Feel free to ask. Do you have any other questions?",
    "What would you like me to work on next?",
    "The dialog now asks “Delete it?”",
    'It prints "Are you sure?"',
    "The prompt is `Continue?`",
    "```\nAre you sure?\n```",
    "> Should I push?\n\nI pushed, as you asked.",
    "| question | answer |\n| --- | --- |\n| Push? | no |",
    "See https://example.org/search?q=clock",
    "I asked the linter whether it is sure. It is.",
    "Please note that the cache is now per user.",
    "The function decides which branch to use.",
    "- why it failed? Because the clock was read twice.\n- what I did: froze it.",
)


def test_a_message_that_asks():
    for message, asked in ASKING.items():
        assert question(message) == asked, message


def test_a_message_that_asks_nothing():
    for message in ASKING_NOTHING:
        assert question(message) is None, message


def test_no_captured_session_of_a_scripted_model_asks_anything():
    """The texts of the captures: what agents print when they are done."""
    texts = {
        block["text"]
        for path in CAPTURES.glob("claude-*.jsonl")
        for line in path.read_bytes().split(b"\n")
        if line.startswith(b'{"type":"assistant"')
        for block in json.loads(line)["message"]["content"]
        if block.get("type") == "text"
    }
    assert len(texts) > 10
    assert {text for text in texts if question(text)} == set()


def test_a_long_message_is_read_in_a_moment():
    long = ("word " * 200_000) + "?"
    asked = question(long)
    assert asked is not None
    assert len(asked) <= 200


def test_a_question_is_one_clean_line():
    assert question("Which\x1b[31m one\n do you prefer?") == "Which one do you prefer?"
