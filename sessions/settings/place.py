"""The place of the user's settings file.  Commands that need no settings import this module alone."""

import os
from pathlib import Path

CONFIG = "AGENTDASH_CONFIG"
"""The variable that names the settings file."""


def config_path() -> Path:
    """``$AGENTDASH_CONFIG``, else ``config.toml`` in the platform's folder for a user's settings."""
    chosen = os.environ.get(CONFIG)
    if chosen:
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_config_path

    return user_config_path("agentdash", appauthor=False) / "config.toml"
