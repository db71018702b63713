"""What agents keep for themselves: the user's messages in their transcripts.  Shares no code with agentdash."""

import json


def said(kind, home):
    """Every message of the user, conversation by conversation, in the order of its lines."""
    if kind == "scripted":
        return {path: entries(path) for path in sorted(home.glob("*.json"))}
    pattern = "sessions/**/rollout-*.jsonl" if kind == "codex" else "projects/*/*.jsonl"
    read = _codex if kind == "codex" else _claude
    return {path: [text for line in _lines(path) if (text := read(line))] for path in sorted(home.glob(pattern))}


def entries(path):
    """The messages in the file of one conversation of the scripted agent."""
    return [said["text"] for said in json.loads(path.read_bytes())]


def _lines(path):
    for line in path.read_bytes().split(b"\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue  # cut off by a kill


def _claude(line):
    attached = line.get("attachment")
    if line.get("type") == "attachment" and isinstance(attached, dict) and attached.get("type") == "queued_command":
        words = attached.get("prompt")  # it was written into a running turn
        return words if isinstance(words, str) else _joined(words)
    message = line.get("message")
    if line.get("type") != "user" or not isinstance(message, dict):
        return ""
    content = message.get("content")
    return content if isinstance(content, str) else _joined(content)


def _codex(line):
    payload = line.get("payload")
    if line.get("type") != "response_item" or not isinstance(payload, dict) or payload.get("role") != "user":
        return ""
    return _joined(payload.get("content"))


def _joined(parts):
    return "".join(str(part.get("text", "")) for part in parts or () if isinstance(part, dict))
