"""An MCP server of one tool, ``ask``, which asks the user to fill in a form and returns the client's answer as JSON.

The answers are also written to the file that is the first argument, a line each.
"""

import json
import sys
from pathlib import Path

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "What is the table's name?"},
        "colour": {"type": "string", "title": "Colour", "enum": ["red", "blue"]},
        "sure": {"type": "boolean", "title": "Sure"},
        "rows": {"type": "integer", "title": "Rows", "minimum": 1, "maximum": 9},
        "share": {"type": "number", "title": "Share"},
    },
    "required": ["name", "colour", "sure", "rows"],
}
TOOL = {
    "name": "ask",
    "description": "Asks the user for a table.",
    "inputSchema": {"type": "object", "properties": {"about": {"type": "string"}}},
}


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def result_of(method, params):
    """The result of a request of the client."""
    if method == "initialize":
        server = {"name": "forms", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    return {"tools": [TOOL]} if method == "tools/list" else {}


def main():
    answers, calls = Path(sys.argv[1]), []
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "tools/call":
            calls.append(number)
            form = {"mode": "form", "message": "Which table?", "requestedSchema": SCHEMA}
            send(id=f"form-{number}", method="elicitation/create", params=form)
        elif method is None and calls:
            answer = json.dumps(message.get("result", message.get("error")), sort_keys=True)
            with answers.open("a") as file:
                file.write(answer + "\n")
            send(id=calls.pop(), result={"content": [{"type": "text", "text": f"the answer is {answer}"}]})
        elif method is not None and number is not None:
            send(id=number, result=result_of(method, message.get("params")))


if __name__ == "__main__":
    main()
