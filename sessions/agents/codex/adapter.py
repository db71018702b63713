"""codex (codex-cli 0.169.0): ``codex exec --json`` and ``codex exec … resume THREAD``, one process per turn."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from ...costs.price_table import price_of
from ...errors import UsageError
from ...launch import Launch
from ..base import Agent, AgentSettings, LaunchRequest, TurnParser
from ..usage_meter import Measurable, Measures, Meter, When

if TYPE_CHECKING:
    from ..recorded_edits import Transcript

_NOISE = ("Reading additional input from stdin", "Reading prompt from stdin", "WARNING")

_MODEL_OPTIONS = frozenset({"-m", "--model", "-p", "--profile", "--oss"})
"""Arguments of codex that name a model, or settings with one."""

_OWN_SETTINGS = {"model": "model", "sandbox_mode": "sandbox", "full_danger": "full_danger"}
"""Keys of ``config`` that have a setting of their own; codex lets its option win over ``-c`` silently."""


class CodexSettings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[agents.codex]``."""

    sandbox: Annotated[
        Literal["read-only", "workspace-write", "danger-full-access"],
        Meta(description="What codex may touch without asking."),
    ] = "workspace-write"
    full_danger: Annotated[bool, Meta(description="No sandbox and no approvals at all.")] = False
    config: Annotated[
        dict[str, Any],
        Meta(
            description="Overrides of codex's own configuration, passed as -c key=value.",
            examples=[{"model_reasoning_effort": "high"}],
        ),
    ] = msgspec.field(default_factory=dict)


def _config(config: dict[str, Any]) -> list[str]:
    for key, setting in _OWN_SETTINGS.items():
        if key in config:
            raise UsageError(f"agents.codex.config.{key} would be ignored: set agents.codex.{setting} instead.")
    from .toml_values import assignments

    try:
        return list(assignments(config))
    except (TypeError, ValueError) as error:
        raise UsageError(f"agents.codex.config cannot be passed to codex: {error}.") from None


def _home(env: Mapping[str, str | None]) -> Path:
    """codex's own folder."""
    home = env.get("CODEX_HOME")
    return Path(home) if home else Path.home() / ".codex"


def _priced(launch: Launch, env: Mapping[str, str]) -> Measurable:
    """Whether the cost can be estimated; only a model that is asked for by name is known for sure before the start."""
    model = launch.model
    if model is not None:
        if price_of(model, launch.prices) is not None:
            return Measurable(When.LIVE)
        remedy = f'set input and output in [prices."{model}"]'
        return Measurable(When.NEVER, f"codex reports no cost, and {model} has no price; {remedy}")
    from .usage import configured_model

    usual = None if any(map(_names_a_model, launch.argv)) else configured_model(_home(env))
    if usual is not None and price_of(usual, launch.prices) is not None:
        return Measurable(When.LIVE)
    chosen = f"codex's own settings name {usual}, which has no price" if usual else "codex chooses the model by itself"
    return Measurable(When.LIVE, f"{chosen}; name one that has a price (-m), or set it in [prices]")


def _names_a_model(argument: str) -> bool:
    """Whether an argument names a model: ``-m``, ``-mNAME``, ``--model=NAME``, or the value of ``-c model=…``."""
    return argument.partition("=")[0] in _MODEL_OPTIONS or argument.startswith(("-m", "model="))


class Codex(Agent):
    """OpenAI's codex."""

    name = "codex"
    title = "Codex"
    binary = "codex"
    tested_versions = ("0.169.0",)  # protocols 2
    install_hint = "Install it with `npm install -g @openai/codex`."
    settings_type = CodexSettings
    mode_key = "sandbox"
    mode_help = "What the agent may touch"
    keeps_transcripts = True
    dangerous = frozenset({"danger-full-access"})
    unlimited = "no-sandbox"
    env_keys = ("PATH", "CODEX_HOME", "OPENAI_BASE_URL")

    def launch(self, request: LaunchRequest) -> Launch:
        """Options stand before the word ``resume``, and the sandbox is repeated: codex does not remember it.

        The prompt goes through standard input (``-``), so that no text of it can be taken for an option.
        """
        settings = request.settings
        if not isinstance(settings, CodexSettings):
            settings = CodexSettings(bin=settings.bin, model=settings.model, args=settings.args)
        model = request.model or settings.model
        argv = [settings.bin or "codex", "exec", "--json", "--skip-git-repo-check", "-C", request.cwd]
        if model:
            argv += ["-m", model]
        argv += ["--dangerously-bypass-approvals-and-sandbox"] if settings.full_danger else ["-s", settings.sandbox]
        for assignment in _config(settings.config):
            argv += ["-c", assignment]
        argv += settings.args
        if request.agent_session is not None:
            argv += ["resume", request.agent_session]
        return Launch(argv=(*argv, "-"), stdin=request.prompt, model=model)

    def recognizes(self, kind: str | None, event: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Events are named by what they are about."""
        return kind is not None and kind.startswith(("thread.", "turn.", "item."))

    def parser(self, turn: int = 1) -> TurnParser:
        """A fresh parser for one turn."""
        from .turn_parser import CodexParser  # only a process that reads turns needs it

        return CodexParser(turn)

    def measures(self, launch: Launch, env: Mapping[str, str]) -> Measures:
        """Tokens are in codex's transcript; the cost is estimated from them, if the model has a price."""
        if "--ephemeral" in launch.argv:
            tokens = Measurable(When.END, "with --ephemeral codex reports its tokens when a turn ends")
            why = "codex reports no cost, and with --ephemeral it writes no transcript to estimate it from"
            return Measures(tokens=tokens, cost=Measurable(When.NEVER, why))
        return Measures(tokens=Measurable(When.LIVE), cost=_priced(launch, env))

    def meter(self, launch: Launch, env: Mapping[str, str], began: int) -> Meter | None:
        """Tokens and cost, from the thread's transcript."""
        if launch.limits.tokens is None and launch.limits.cost_usd is None:
            return None
        from .usage import CodexMeter

        return CodexMeter(_home(env), began, launch.prices if launch.limits.cost_usd is not None else None)

    def recorded_edits(self, agent_session: str, env: Mapping[str, str | None], at: int) -> "Transcript | None":
        """The thread's transcript, below the ``CODEX_HOME`` with which the session was asked for."""
        from .recorded_edits import open_rollout  # not for the runner, which has no use for it

        return open_rollout(_home(env), agent_session, at)

    def refusals(self, stderr: str) -> Iterable[str]:
        """Patches and commands that codex refused without an event."""
        from .items import unwrapped
        from .refusals import complaints, culprit

        return [culprit(unwrapped(command)) if command else "apply_patch" for command in complaints(stderr)]

    def stderr_reason(self, text: str) -> str | None:
        """The first line that says ``Error``, else the last that is not noise."""
        stripped = [line.strip() for line in text.splitlines()]
        lines = [line for line in stripped if line and not line.startswith(_NOISE)]
        errors = [line for line in lines if line.startswith(("Error", "error:"))]
        return errors[0] if errors else lines[-1] if lines else None
