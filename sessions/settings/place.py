"""The place of the user's settings file.  Commands that need no settings import this module alone."""

import os
from pathlib import Path


def config_path() -> Path:
    """``$AGENTDASH_CONFIG``, else ``config.toml`` in the platform's folder for a user's settings."""
    chosen = os.environ.get("AGENTDASH_CONFIG")
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_config_path

    return user_config_path("agentdash", appauthor=False) / "config.toml"
