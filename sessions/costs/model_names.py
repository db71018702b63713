"""The name of a model without what its provider writes around it.  Pure.

The same model has several names: ``claude-opus-4-8`` is ``anthropic/claude-opus-4-8`` for OpenRouter and LiteLLM,
``us.anthropic.claude-opus-4-8-v1:0`` for Bedrock, ``claude-opus-4-8@20260101`` for Vertex, and
``claude-opus-4-8[1m]`` for claude if it has the larger context.  Only parts with a known meaning are left out, so that
no model gets the name of one that is merely similar.
"""

import re

_PROVIDERS = frozenset({
    "amazon-bedrock", "anthropic", "azure", "azure-openai", "bedrock", "bedrock_converse", "converse", "google-vertex",
    "models", "openai", "openrouter", "publishers", "vertex", "vertex_ai",
})  # fmt: skip
"""The parts before a slash that name who serves a model; another one may be a model of its own."""

_LONGEST = 500
"""Characters read of a name, which the output of an agent may give."""

_ARN = re.compile(r"\Aarn:aws[a-z-]*:bedrock:.*(?:inference-profile|foundation-model)/", re.ASCII)
_BEDROCK = re.compile(r"(?:(?:us|us-gov|eu|ap|apac|au|ca|jp|sa|global)\.)?(anthropic|openai)\.(?=[a-z])", re.ASCII)
_VERSION = re.compile(r"-v\d{1,2}:\d{1,2}$", re.ASCII)
_BEDROCK_VERSION = re.compile(r"-v\d{1,2}(?::\d{1,2})?$", re.ASCII)
"""A version may lack its second number: ``anthropic.claude-opus-4-6-v1``; only Bedrock's names have it."""
_AT = re.compile(r"@(?:\d{8}|latest|default)$", re.ASCII)
_DATE = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$", re.ASCII)
"""The end of a snapshot's name; a snapshot costs the same as its model: ``claude-haiku-4-5-20251001``."""


def without_context(name: str) -> str:
    """Return a name without the size of the context, which claude appends: ``claude-opus-4-8[1m]``."""
    return name.partition("[")[0]


def plain_name(name: str) -> str:
    """Return the name of a model in small letters, without provider, region, version, context and date."""
    plain = _ARN.sub("", without_context(name[:_LONGEST].strip().lower()))
    head, slash, rest = plain.partition("/")
    while slash and head in _PROVIDERS:
        plain = rest
        head, slash, rest = plain.partition("/")
    unprefixed = _BEDROCK.sub("", plain)
    plain = (_VERSION if unprefixed == plain else _BEDROCK_VERSION).sub("", unprefixed)
    return _DATE.sub("", _AT.sub("", plain))
