"""``[projects]``: the user's own settings for the settings files of projects."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

Allowable = Literal["allowed_tools", "args", "config", "copies", "search"]
"""The keys that a project may set only if the user's own settings allow it: each can widen what an agent may do."""


class ProjectsSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[projects]``: whether the files of projects are read, and what they may set beyond the usual."""

    read: Annotated[
        bool,
        Meta(description="Use the .agentdash.toml of a project after you trusted it (agentdash trust)."),
    ] = True
    state: Annotated[
        bool,
        Meta(description="Keep the sessions of each project in a state folder of its own, by the current folder."),
    ] = False
    allow: Annotated[
        tuple[Allowable, ...],
        Meta(
            description="Keys that a trusted project may set although they can widen what an agent may do.",
            examples=[["search"]],
        ),
    ] = ()
