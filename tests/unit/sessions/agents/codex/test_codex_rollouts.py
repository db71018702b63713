"""codex's transcripts as typed steps: each thing once, with times, diffs, exit codes and tokens, turn by turn."""

import json

import pytest
from transcript_files import FOLDER, ROLLOUTS, read, steps_of, told

from agentdash.sessions.agents.registry import agent_named
from agentdash.sessions.model.session import StepKind, StepStatus
from agentdash.sessions.model.taken_by import BY_HAND
from agentdash.sessions.rules.costs.pricing import Pricing
from agentdash.sessions.rules.costs.reports import Reported

ROLLOUT = "codex-rollout"
AT = "2026-11-20T23:49:30.653Z"


def line(kind, **payload):
    return {"timestamp": AT, "type": kind, "payload": payload}


def event(kind, **payload):
    return line("event_msg", type=kind, **payload)


def item(kind, **payload):
    return line("response_item", type=kind, **payload)


def thing(kind, **fields):
    return event("item_completed", item={"type": kind, **fields})


def said(role, text, **more):
    return item("message", role=role, content=[{"type": "input_text", "text": text}], **more)


def tokens(total, last):
    def usage(n):
        return {"input_tokens": n, "output_tokens": 1}

    return event("token_count", info={"total_token_usage": usage(total), "last_token_usage": usage(last)})


META = line("session_meta", id="thread-1", cwd="/home/dev/project")


def test_every_line_of_a_capture_is_known():
    for path in ROLLOUTS:
        assert [step.event for step in read(path) if step.kind is StepKind.UNKNOWN] == [], path


def test_a_whole_turn_is_told_once_with_times_diffs_and_exit_codes():
    steps = [step for step in read(FOLDER / "codex-work-whole.rollout.jsonl") if step.kind is not StepKind.NOTICE]
    assert [str(step.kind) for step in steps] == [
        "start", "prompt", "reasoning", "message", "command", "reasoning", "command", "message", "file_change",
        "file_change", "command", "message", "usage",
    ]  # fmt: skip
    assert steps[0].model == "gpt-5.5"
    assert steps[0].agent_session == "01a1fb5d-7d5d-7913-b909-74b3ef408bd0"
    failed, created, edited, usage = steps[6], steps[8], steps[9], steps[-1]
    assert (failed.command, failed.exit_code, failed.status) == ("cat does-not-exist.txt; exit 3", 3, "failed")
    assert failed.output == "cat: does-not-exist.txt: No such file or directory\n"
    assert failed.ended_at - failed.at == 44
    assert created.changes[0].diff == "@@ -0,0 +1,2 @@\n+first line\n+second line"
    assert "-second line\n+second line, edited" in edited.changes[0].diff
    assert (usage.usage.input_tokens, usage.usage.cached_input_tokens, usage.usage.output_tokens) == (13200, 5000, 165)


def test_the_calls_of_a_turn_by_hand_are_priced_with_the_model_with_which_it_began():
    parser = agent_named("codex").parser(2, BY_HAND)
    parser.facts.reported = Reported(Pricing())
    used = {"input_tokens": 9_000, "cached_input_tokens": 3_000, "cache_write_input_tokens": 1_500, "output_tokens": 10}
    for one in (
        line("turn_context", model="gpt-5.5"),
        event("thread_settings_applied", thread_settings={"model": "gpt-5.4"}),
        line("token_usage_record", usage=used),
    ):
        parser.feed(json.dumps(one).encode())
    (call,) = parser.facts.reported.reports()
    assert (call.model, call.usage.cache_write_tokens) == ("gpt-5.5", 1_500)
    assert call.computed_usd == pytest.approx((6_000 * 5.0 + 3_000 * 0.5 + 10 * 30.0) / 1e6)
    assert parser.facts.model == "gpt-5.4"


def test_turns_are_numbered_by_their_prompts_and_steps_within_them():
    steps = read(FOLDER / "codex-resume.rollout.jsonl")
    prompts = [(step.turn, step.text) for step in steps if step.kind is StepKind.PROMPT]
    assert prompts == [
        (1, "[[fake:shell_ok]] first turn"),
        (2, "[[fake:context_probe]] second turn"),
        (3, "[[fake:shell_ok]] third turn"),
        (4, "[[fake:context_probe]] fourth turn"),
        (5, "[[fake:context_probe]] last"),
    ]
    for turn in range(1, 6):
        indices = [step.index for step in steps if step.turn == turn]
        assert indices == list(range(len(indices)))
    # The scripted model gives calls of different turns the same id.
    assert [(s.turn, s.command) for s in steps if s.kind is StepKind.COMMAND] == [
        (1, "echo hello-from-shell"),
        (3, "echo hello-from-shell"),
    ]
    assert [s.usage.input_tokens for s in steps if s.kind is StepKind.USAGE] == [2800, 1200, 2800, 1200, 1200]


def test_a_command_that_a_kill_cut_off_is_interrupted_when_the_next_turn_begins():
    steps = read(FOLDER / "codex-killed-and-resumed.rollout.jsonl")
    (command,) = [step for step in steps if step.kind is StepKind.COMMAND]
    assert (command.turn, command.status, command.ended_at) == (1, StepStatus.INTERRUPTED, None)
    assert "sandbox changed from danger-full-access to read-only" in [step.text for step in steps]
    assert [(s.turn, s.usage.input_tokens) for s in steps if s.kind is StepKind.USAGE] == [(1, 1200), (2, 1200)]


def test_an_aborted_turn_says_so():
    steps = read(FOLDER / "codex-queue.rollout.jsonl")
    assert [(s.turn, s.text) for s in steps if s.event == "turn_aborted"] == [(2, "turn aborted: interrupted")]


def test_a_failed_turn_ends_with_its_reason():
    steps = read(FOLDER / "codex-err500.rollout.jsonl")
    assert (steps[-1].kind, steps[-1].fatal) == (StepKind.ERROR, True)
    assert "high demand" in steps[-1].text


def test_a_sub_agent_names_its_thread_and_its_task():
    steps = read(FOLDER / "codex-subagent-child.rollout.jsonl")
    assert "sub-agent Mendel of thread 01a1fb74-de65-7693-8869-5cc2e6e9efad" in [step.text for step in steps]
    (prompt,) = [step for step in steps if step.kind is StepKind.PROMPT]
    assert "[[fake:sub]] Count the files." in prompt.text


@pytest.mark.parametrize("first", ["event", "item"])
def test_what_both_records_tell_without_ids_is_shown_once(tmp_path, first):
    """Versions before codex-cli 0.160 give neither messages nor prompts an id."""
    pairs = [
        (event("user_message", message="yes"), said("user", "yes")),
        (event("agent_reasoning", text="**Thinking**"), item("reasoning", summary=[{"text": "**Thinking**"}])),
        (event("agent_message", message="done"), said("assistant", "done")),
        (event("user_message", message="yes"), said("user", "yes")),
        (event("agent_message", message="done"), said("assistant", "done")),
    ]
    lines = [one for pair in pairs for one in (pair if first == "event" else reversed(pair))]
    steps = steps_of(tmp_path, ROLLOUT, META, *lines)
    assert [(step.turn, *one) for step, one in zip(steps, told(steps), strict=True)][1:] == [
        (1, "prompt", "yes"),
        (1, "reasoning", "**Thinking**"),
        (1, "message", "done"),
        (2, "prompt", "yes"),
        (2, "message", "done"),
    ]


def test_reasoning_that_codex_keeps_secret_is_there(tmp_path):
    lines = [thing("Reasoning", id="rs_1", summary_text=[]), item("reasoning", id="rs_1", encrypted_content="gAAAA")]
    assert ("reasoning", "(not shown)") in told(steps_of(tmp_path, ROLLOUT, META, *lines))


def test_the_words_of_the_harness_are_no_prompts(tmp_path):
    lines = [
        said("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"),
        said("user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe nice.\n</INSTRUCTIONS>"),
        said("user", "ask", internal_chat_message_metadata_passthrough={"content_item_kinds": ["user.text"]}),
        said("user", "stored", internal_chat_message_metadata_passthrough={"content_item_kinds": ["memories.text"]}),
    ]
    assert [kind for kind, _ in told(steps_of(tmp_path, ROLLOUT, META, *lines))][1:] == [
        "notice", "notice", "prompt", "notice",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        '<div class="cart"> is not centred, please fix',
        "<environment_context> is sent twice, why?",
        "<permissions instructions>\nare cut off",
        "<task>\nWrite the parser.\n</task>",
        "<skill>a</skill> does not load",
        "# AGENTS.md instructions are ignored\n\nMend it.",
        "</environment_context>",
    ],
)
def test_a_prompt_may_begin_with_any_tag(tmp_path, words):
    assert told(steps_of(tmp_path, ROLLOUT, META, said("user", words)))[1:] == [("prompt", words)]


@pytest.mark.parametrize(
    ("call", "output", "expected"),
    [
        (
            item("function_call", name="shell", call_id="c", arguments='{"command":["bash","-lc","ls -l"]}'),
            json.dumps({"output": "a\n", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}),
            ("command", "ls -l", StepStatus.OK, 0, "a\n"),
        ),
        (
            item("function_call", name="shell_command", call_id="c", arguments='{"command":"false"}'),
            "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno\n",
            ("command", "false", StepStatus.FAILED, 1, "no\n"),
        ),
        (
            item("local_shell_call", call_id="c", action={"type": "exec", "command": ["ls", "a b"]}),
            "x",
            ("command", "ls 'a b'", StepStatus.OK, None, "x"),
        ),
        (
            item("function_call", name="exec_command", call_id="c", arguments='{"cmd":"sleep 9"}'),
            "aborted by user after 3.2s",
            ("command", "sleep 9", StepStatus.INTERRUPTED, None, "aborted by user after 3.2s"),
        ),
        (
            item("function_call", name="mcp__github__search", call_id="c", arguments='{"q":"x"}'),
            [{"type": "input_text", "text": "found"}],
            ("tool_call", "mcp__github__search", StepStatus.OK, None, "found"),
        ),
        (
            item("function_call", name="anything", call_id="c", arguments="not JSON"),
            {"content": "no such tool", "success": False},
            ("tool_call", "anything", StepStatus.FAILED, None, "no such tool"),
        ),
        (
            item("function_call", name="spawn_agent", call_id="c", arguments='{"message":"count"}'),
            "{}",
            ("subagent", "count", StepStatus.OK, None, "{}"),
        ),
    ],
    ids=["shell", "shell_command", "local_shell", "aborted", "mcp", "failed", "spawn_agent"],
)
def test_calls_and_outputs_without_events(tmp_path, call, output, expected):
    steps = steps_of(tmp_path, ROLLOUT, META, call, item("function_call_output", call_id="c", output=output))
    step = steps[-1]
    assert (str(step.kind), step.text, step.status, step.exit_code, step.output) == expected


def test_a_patch_of_the_model_has_diffs_without_an_event(tmp_path):
    patch = (
        "*** Begin Patch\n*** Add File: new.txt\n+one\n*** Update File: old.txt\n*** Move to: moved.txt\n"
        "@@ def f\n-a\n+b\n*** Delete File: gone.txt\n*** End Patch\n"
    )
    lines = [
        item("custom_tool_call", name="apply_patch", call_id="c", input=patch),
        item("custom_tool_call_output", call_id="c", output="Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."),
    ]
    step = steps_of(tmp_path, ROLLOUT, META, *lines)[-1]
    assert [(change.path, change.kind, change.diff) for change in step.changes] == [
        ("new.txt", "add", "@@ -0,0 +1,1 @@\n+one"),
        ("old.txt", "update", "@@ def f\n-a\n+b"),
        ("gone.txt", "delete", None),
    ]
    assert (step.status, step.output) == (StepStatus.OK, "Success.")


def test_a_command_that_goes_on_ends_with_the_call_that_reads_its_end(tmp_path):
    running = "Chunk ID: 1\nWall time: 1.0 seconds\nProcess running with session ID 77\nOutput:\none\n"
    over = "Chunk ID: 2\nWall time: 1.0 seconds\nProcess exited with code 4\nOutput:\ntwo\n"
    lines = [
        item("function_call", name="exec_command", call_id="a", arguments='{"cmd":"make"}'),
        item("function_call_output", call_id="a", output=running),
        item("function_call", name="write_stdin", call_id="b", arguments='{"session_id":77,"chars":""}'),
        item("function_call_output", call_id="b", output=over),
    ]
    _, command, reading = steps_of(tmp_path, ROLLOUT, META, *lines)
    assert (command.status, command.exit_code, command.output) == (StepStatus.FAILED, 4, "one\ntwo\n")
    assert (reading.tool, reading.output) == ("write_stdin", "two\n")


def test_events_in_pairs_are_one_step(tmp_path):
    call = {"server": "github", "tool": "search", "arguments": {"q": "x"}}
    answer = {"Ok": {"content": [{"type": "text", "text": "found"}], "isError": False}}
    lines = [
        event("exec_command_begin", call_id="1", command=["bash", "-lc", "ls"]),
        event("exec_command_end", call_id="1", command=["bash", "-lc", "ls"], exit_code=2, aggregated_output="no"),
        event("mcp_tool_call_begin", call_id="2", invocation=call),
        event("mcp_tool_call_end", call_id="2", invocation=call, result=answer),
        event("mcp_tool_call_end", call_id="3", invocation=call, result={"Err": "gone"}),
        event("patch_apply_begin", call_id="4", changes={"a": {"type": "add", "content": "x\n"}}),
        event("patch_apply_end", call_id="4", success=True, stdout="ok", changes={}),
        event("web_search_end", call_id="5", query="weather"),
        thing("WebSearch", id="6", query="news", action={"type": "search", "query": "news"}),
    ]
    steps = steps_of(tmp_path, ROLLOUT, META, *lines)[1:]
    assert [(str(s.kind), s.text, s.status, s.output) for s in steps] == [
        ("command", "ls", "failed", "no"),
        ("tool_call", "github.search", "ok", "found"),
        ("tool_call", "github.search", "failed", "gone"),
        ("file_change", "a", "ok", "ok"),
        ("web_search", "weather", "ok", None),
        ("web_search", "news", "ok", None),
    ]
    assert steps[3].changes[0].diff == "@@ -0,0 +1,1 @@\n+x"


def test_tokens_that_are_told_again_are_counted_once(tmp_path):
    lines = [
        META, event("task_started"), event("user_message", message="a"), tokens(100, 100), tokens(100, 100),
        tokens(250, 150), event("task_complete"), event("task_started"), event("user_message", message="b"),
        tokens(250, 150), tokens(40, 40), event("task_complete"),
    ]  # fmt: skip
    usages = [step.usage.input_tokens for step in steps_of(tmp_path, ROLLOUT, *lines) if step.kind is StepKind.USAGE]
    assert usages == [250, 40]


def test_a_plan_is_shown_once(tmp_path):
    plan = [{"step": "read", "status": "completed"}, {"step": "write", "status": "in_progress"}]
    lines = [
        item("function_call", name="update_plan", call_id="p", arguments=json.dumps({"plan": plan})),
        event("plan_update", plan=plan),
        item("function_call_output", call_id="p", output="Plan updated"),
    ]
    _, step = steps_of(tmp_path, ROLLOUT, META, *lines)
    assert (step.text, step.status) == ("1 of 2 done", StepStatus.OK)
    assert [entry.status for entry in step.items] == ["completed", "in_progress"]


def test_model_and_folder_are_shown_where_they_change(tmp_path):
    lines = [
        line("turn_context", model="a", cwd="/home/dev/project"),
        line("turn_context", model="a", cwd="/home/dev/project"),
        line("turn_context", model="b", cwd="/home/dev/other"),
    ]
    steps = steps_of(tmp_path, ROLLOUT, META, *lines)
    assert steps[0].model == "a"
    assert told(steps)[1:] == [
        ("notice", "model changed from a to b"),
        ("notice", "cwd changed from /home/dev/project to /home/dev/other"),
    ]


def test_a_compaction_is_shown_once_with_its_summary(tmp_path):
    lines = [
        line("compacted", message="what was", replacement_history=[]),
        event("context_compacted"),
        thing("ContextCompaction", id="1"),
    ]
    assert told(steps_of(tmp_path, ROLLOUT, META, *lines))[1:] == [("notice", "context compacted: what was")]


def test_a_fork_names_its_origin_and_keeps_the_copied_history(tmp_path):
    fork = line("session_meta", id="thread-2", forked_from_id="thread-1")
    lines = [fork, META, event("user_message", message="old"), event("user_message", message="new")]
    steps = steps_of(tmp_path, ROLLOUT, *lines)
    assert told(steps)[1:] == [
        ("notice", "forked from thread thread-1"),
        ("notice", "history of thread thread-1 follows"),
        ("prompt", "old"),
        ("prompt", "new"),
    ]
    assert steps[0].agent_session == "thread-2"


def test_several_threads_in_one_file_are_told_apart(tmp_path):
    second = line("session_meta", id="thread-2")
    lines = [META, event("user_message", message="a"), tokens(90, 90), second, event("user_message", message="b")]
    steps = steps_of(tmp_path, ROLLOUT, *lines, tokens(10, 10))
    starts = [(step.turn, step.agent_session) for step in steps if step.kind is StepKind.START]
    assert starts == [(1, "thread-1"), (2, "thread-2")]
    assert [step.usage.input_tokens for step in steps if step.kind is StepKind.USAGE] == [90, 10]


def test_the_first_versions_wrote_items_without_an_envelope(tmp_path):
    path = tmp_path / "old.jsonl"
    lines = [
        {"id": "thread-0", "timestamp": AT, "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "name": "shell", "call_id": "c", "arguments": '{"command":["ls"]}'},
        {"type": "function_call_output", "call_id": "c", "output": '{"output":"a","metadata":{"exit_code":0}}'},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert told(read(path)) == [("start", ""), ("prompt", "hi"), ("command", "ls")]


def test_what_is_not_known_is_shown_raw_and_named(tmp_path):
    lines = [META, event("something_new", x=1), item("odd_item"), line("odd_line", a=1), thing("OddThing")]
    unknown = steps_of(tmp_path, ROLLOUT, *lines)[1:]
    assert [step.event for step in unknown] == [
        "event_msg something_new", "response_item odd_item", "odd_line", "event_msg OddThing",
    ]  # fmt: skip
    assert json.loads(unknown[0].text) == lines[1]


IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,QUJD"}


def framed(name, path):
    """A picture in a message to the model, as codex 0.169.0 and 0.171.0 write it."""
    opened = {"type": "input_text", "text": f'<image name=[{name}] path="{path}">'}
    return [opened, IMAGE, {"type": "input_text", "text": "</image>"}]


@pytest.mark.parametrize(
    ("pieces", "reported", "shown"),
    [
        (
            framed("Image #1", "a.png"),
            lambda text: thing("UserMessage", content=[{"type": "local_image", "path": "a.png"}, text]),
            "(image)\nwhat is this?",
        ),
        (
            [*framed("Image #1", "a.png"), *framed("Image #2", "b.png")],
            lambda text: thing("UserMessage", content=[*[{"type": "local_image", "path": "x"}] * 2, text]),
            "(image)\n(image)\nwhat is this?",
        ),
        (
            [IMAGE],
            lambda text: event("user_message", message=text["text"], images=["data:image/png;base64,QUJD"]),
            "(image)\nwhat is this?",
        ),
        (
            [IMAGE],
            lambda text: event("user_message", message=text["text"], images=[], local_images=["a.png"]),
            "(image)\nwhat is this?",
        ),
        (
            [{"type": "input_audio", "audio_url": "data:audio/wav;base64,QUJD"}],
            lambda text: thing("UserMessage", content=[{"type": "local_audio", "path": "a.wav"}, text]),
            "(audio)\nwhat is this?",
        ),
        ([], lambda text: thing("UserMessage", content=[{"type": "mention", "path": "x"}, text]), "what is this?"),
    ],
)
@pytest.mark.parametrize("first", ["item", "event"])
def test_a_prompt_with_attached_media_is_one_prompt(tmp_path, pieces, reported, shown, first):
    text = {"type": "input_text", "text": "what is this?"}
    lines = [item("message", role="user", content=[*pieces, text]), reported(text | {"type": "text"})]
    ordered = lines if first == "item" else lines[::-1]
    steps = steps_of(tmp_path, ROLLOUT, META, event("task_started"), *ordered)
    (prompt,) = [step.text for step in steps if step.kind is StepKind.PROMPT]
    assert prompt == shown or (first == "event" and prompt.endswith("what is this?"))


def test_words_between_tags_of_a_picture_are_the_users_own(tmp_path):
    steps = steps_of(tmp_path, ROLLOUT, META, said("user", '<image src="a.png">\nis not shown'))
    assert told(steps)[1:] == [("prompt", '<image src="a.png">\nis not shown')]


FINDING = {
    "title": "[P1] Lock is never released", "body": "The early return leaves it held.\nSee line 40.",
    "code_location": {"absolute_file_path": "/w/lock.py", "line_range": {"start": 38, "end": 41}},
}  # fmt: skip
REVIEW = {"findings": [FINDING], "overall_explanation": "One path leaks the lock.", "overall_correctness": "incorrect"}
REVIEWED = (
    "One path leaks the lock.\n\nReview comment:\n\n- [P1] Lock is never released — /w/lock.py:38-41\n"
    "  The early return leaves it held.\n  See line 40."
)


@pytest.mark.parametrize(
    "end", [event("exited_review_mode", review_output=REVIEW), thing("ExitedReviewMode", review_output=REVIEW)]
)
@pytest.mark.parametrize("behind", [[], [said("assistant", REVIEWED), event("agent_message", message=REVIEWED)]])
def test_the_findings_of_a_review_are_shown_once(tmp_path, end, behind):
    steps = steps_of(tmp_path, ROLLOUT, META, event("entered_review_mode", user_facing_hint="changes"), end, *behind)
    assert [step.text for step in steps if step.kind is StepKind.MESSAGE] == [REVIEWED]


def test_a_review_without_findings_has_its_explanation(tmp_path):
    end = event("exited_review_mode", review_output={"findings": [], "overall_explanation": "All good."})
    assert told(steps_of(tmp_path, ROLLOUT, META, end))[-1] == ("message", "All good.")
    cut = event("exited_review_mode", review_output=None)
    assert told(steps_of(tmp_path, ROLLOUT, META, cut))[-1] == ("notice", "exited review mode")


def at(second, made):
    return made | {"timestamp": f"2026-11-20T{second}Z"}


OWN = "10:00:05.000"


@pytest.mark.parametrize("copied", ["10:00:00.000", "10:00:00.004", "09:00:00.000"])
@pytest.mark.parametrize(
    "heading",
    [
        [{"forked_from_id": "thread-0"}, {"id": "thread-0"}],
        [{"forked_from_id": "thread-0"}],
        [{"parent_thread_id": "thread-0"}],
        [{"source": {"subagent": {"thread_spawn": {"parent_thread_id": "thread-0", "agent_nickname": "Ada"}}}}],
        [{"forked_from_id": "thread-0"}, {"id": "thread-0", "forked_from_id": "thread-00"}, {"id": "thread-00"}],
    ],
)
def test_history_that_a_thread_copied_is_not_counted_as_its_own(tmp_path, copied, heading):
    def turn(when, prompt, total, last):
        events = [event("task_started"), said("user", prompt), tokens(total, last), event("task_complete")]
        return [at(when, made) for made in events]

    metas = [at("10:00:00.000", line("session_meta", **({"id": "thread-1"} | fields))) for fields in heading]
    lines = [*metas, *turn(copied, "one", 100, 100), *turn(copied, "two", 300, 200), *turn(OWN, "three", 350, 50)]
    steps = steps_of(tmp_path, ROLLOUT, *lines)
    assert [(s.turn, s.text) for s in steps if s.kind is StepKind.PROMPT] == [(1, "one"), (2, "two"), (3, "three")]
    assert [(s.turn, s.usage.input_tokens) for s in steps if s.kind is StepKind.USAGE] == [(3, 50)]
    assert len([step for step in steps if step.kind is StepKind.START]) == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("shell", '{"command":["bash","-lc","ls'),
        ("exec_command", "ls -l"),
        ("shell_command", '{"comand": "ls"}'),
        ("local_shell", "[1, 2]"),
    ],
)
def test_a_command_whose_arguments_cannot_be_read_shows_them_and_failed(tmp_path, name, arguments):
    call = item("function_call", name=name, call_id="c", arguments=arguments)
    answer = "failed to parse function arguments: EOF while parsing a string"
    (step,) = steps_of(
        tmp_path, ROLLOUT, META, call, item("function_call_output", call_id="c", output=answer)
    )[1:]  # fmt: skip
    shown = arguments if name in ("shell", "exec_command") else json.dumps(json.loads(arguments), separators=(",", ":"))
    assert (step.kind, step.command, step.status, step.output) == (
        StepKind.COMMAND, shown, StepStatus.FAILED, answer,
    )  # fmt: skip


@pytest.mark.parametrize(
    "answer", ["unsupported call: launch", "unsupported custom tool call: x", "unknown tool call x"]
)
def test_a_call_that_codex_does_not_know_failed(tmp_path, answer):
    call = item("function_call", name="launch", call_id="c", arguments="{}")
    steps = steps_of(tmp_path, ROLLOUT, META, call, item("function_call_output", call_id="c", output=answer))
    assert steps[-1].status is StepStatus.FAILED


def test_an_error_behind_which_nothing_comes_ends_the_task(tmp_path):
    error = event("error", message="You've hit your usage limit.")
    start, done = event("task_started"), event("task_complete", last_agent_message=None)
    steps = steps_of(tmp_path, ROLLOUT, META, start, said("user", "go"), error, done)
    assert [(s.text, s.fatal) for s in steps if s.kind is StepKind.ERROR] == [("You've hit your usage limit.", True)]
    assert not [step for step in steps if step.text == "turn ended"]


@pytest.mark.parametrize(
    "work",
    [
        said("assistant", "done"),
        item("function_call", name="shell", call_id="c", arguments='{"command":["ls"]}'),
        thing("AgentMessage", text="done"),
    ],
)
def test_an_error_after_which_codex_goes_on_is_not_fatal(tmp_path, work):
    lines = [event("task_started"), said("user", "go"), event("error", message="slow"), work, event("task_complete")]
    steps = steps_of(tmp_path, ROLLOUT, META, *lines)
    assert [step.fatal for step in steps if step.kind is StepKind.ERROR] == [False]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (json.dumps({"output": "b\n", "metadata": {"exit_code": 3}}), (StepStatus.FAILED, 3, "b\n")),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nb\n", (StepStatus.OK, 0, "b\n")),
    ],
)
def test_an_output_before_its_call_belongs_to_the_call(tmp_path, output, expected):
    call = item("function_call", name="shell_command", call_id="c", arguments='{"command":"make"}')
    early = item("function_call_output", call_id="c", output=output)
    (step,) = steps_of(tmp_path, ROLLOUT, META, early, call)[1:]
    assert (step.kind, step.command) == (StepKind.COMMAND, "make")
    assert (step.status, step.exit_code, step.output) == expected


def test_a_part_of_a_transcript_without_its_beginning_has_its_calls():
    """What was said by hand: codex wrote the line that names the thread in an earlier turn."""
    lines = (FOLDER / "codex-queue.rollout.jsonl").read_bytes().splitlines()
    whole, part = (agent_named("codex").parser(2, BY_HAND) for _ in range(2))
    for parser, begin in ((whole, 0), (part, 1)):
        for one in lines[begin:]:
            parser.feed(one)
    assert b'"session_meta"' in lines[0]
    assert part.facts.thread_usage.known
    assert part.facts.thread_usage == whole.facts.thread_usage
