#!/usr/bin/env python3
"""Notify a phone when an agent asks, and take one answer: an example of a hook.  Standard library alone.

    phone.py            the hook: [notify] hook = ["/path/to/phone.py"]
    phone.py listen     waits for answers; let it run in a terminal of its own

It speaks to any server where a message is published with POST URL/TOPIC, and where GET URL/TOPIC/json is a stream of
JSON lines with "message".  Read docs/guide/scripts.md first: who can read the topic can answer.
"""

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

SETTINGS = Path(os.environ.get("AGENTDASH_PHONE") or Path.home() / ".config/agentdash/phone.json")
"""{"url": "https://push.example.org", "topic": "…", "replies": "…", "auth": "Bearer …"}, for you alone (chmod 600)."""

VALID_SECONDS = 15 * 60
LONGEST_TITLE = 200
"""Characters of an ask that can be approved from a phone: a longer one would not be read."""

PUBLISH_SECONDS = 8

SILENT_SECONDS = 300
"""A stream without a line for this time is opened again; servers send an empty event more often."""


def main() -> int:
    settings = json.loads(SETTINGS.read_text(encoding="utf-8"))
    if sys.argv[1:] == ["listen"]:
        while True:
            try:
                listen(settings)
            except OSError as error:
                print(f"{error}; again in 10 s", file=sys.stderr)
            time.sleep(10)
    if os.environ.get("AGENTDASH_STATUS") == "waiting":
        notify(settings, os.environ["AGENTDASH_SESSION"])
    return 0


def notify(settings: dict, session: str) -> None:
    """Publish the newest ask of a session, with a token if it can be answered with yes or no."""
    listed = json.loads(agentdash("asks", session, "--json").stdout or "[]")
    waiting = [ask for ask in listed if ask["state"] == "open"]
    if not waiting:
        return
    ask = waiting[-1]
    text = f"{plain(os.environ.get('AGENTDASH_TITLE', ''))}: {plain(ask['title'])[:LONGEST_TITLE]}"
    if not is_whole(ask):
        publish(settings, f"{text}\nAnswer it at the machine.")
        return
    token = new_token(session, ask["id"])
    publish(settings, f"{text}\n{token} y    or    {token} n")


def is_whole(ask: dict) -> bool:
    """Return whether the title is all that the user would allow, with nothing hidden in it.

    For agentdash the ask has been shown now, so it would not refuse an approval of what the user has not read.
    """
    title, body = ask["title"], ask["body"].strip()
    more = ask["questions"] or ask["left_out"] or len(ask["paths"]) > 1 or {"allow", "deny"} - set(ask["verdicts"])
    readable = title.isprintable() and plain(title) == title and len(title) <= LONGEST_TITLE
    return not more and readable and title.endswith(body)


def listen(settings: dict) -> None:
    """Answer asks with the messages of the topic for replies, until the stream ends."""
    with request(settings, f"{settings['replies']}/json", timeout=SILENT_SECONDS) as stream:
        for line in stream:
            words = str(json.loads(line).get("message", "")).split()
            if len(words) == 2 and words[1] in ("y", "n"):
                answer(settings, *words)


def answer(settings: dict, token: str, word: str) -> None:
    """Answer the ask of a token, which is void from then on."""
    found = take(token)
    if found is None:
        return  # nothing is said about tokens that are not valid
    verb = "approve" if word == "y" else "deny"
    done = agentdash(verb, found["session"], str(found["ask"]))
    publish(settings, f"{verb}: done" if done.returncode == 0 else f"{verb}: {plain(done.stderr)[:LONGEST_TITLE]}")


def new_token(session: str, ask: int) -> str:
    """Return a random token for one answer to one ask; only its digest is kept."""
    token = secrets.token_urlsafe(16)
    with kept() as tokens:
        tokens[digest(token)] = {"session": session, "ask": ask, "until": time.time() + VALID_SECONDS}
    return token


def take(token: str) -> dict | None:
    """Return the ask of a token, and delete it; None if it is not valid, was used or is too old."""
    asked, found = digest(token), None
    with kept() as tokens:
        for one in list(tokens):
            if hmac.compare_digest(one, asked):
                found = tokens.pop(one)
    return found if found is not None and time.time() < found["until"] else None


@contextmanager
def kept():
    """Yield the tokens that are valid, and write them back; one process at a time."""
    path = SETTINGS.with_name("phone-tokens.json")
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        tokens = json.loads(file.read() or "{}")
        tokens = {name: one for name, one in tokens.items() if time.time() < one["until"]}
        yield tokens
        file.seek(0)
        file.truncate()
        json.dump(tokens, file)


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def plain(text: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def agentdash(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["agentdash", *words], capture_output=True, text=True, check=False)


def publish(settings: dict, text: str) -> None:
    with request(settings, settings["topic"], text.encode(), timeout=PUBLISH_SECONDS):
        pass


def request(settings: dict, path: str, data: bytes | None = None, *, timeout: float):
    headers = {"Authorization": settings["auth"]} if settings.get("auth") else {}
    asked = urllib.request.Request(f"{settings['url'].rstrip('/')}/{path}", data, headers)
    return urllib.request.urlopen(asked, timeout=timeout)


if __name__ == "__main__":
    sys.exit(main())
