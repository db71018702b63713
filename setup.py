"""The packages of agentdash; all other facts of the project are in ``pyproject.toml``.

The repository root is the package ``agentdash``, and setuptools discovers no packages below a root with a different
name.  The list is computed here, so that a new folder of modules or of data needs no entry.
"""

import warnings

from setuptools import find_namespace_packages, setup

ROOMS = ("docs", "sessions", "tui", "widgets")

# setuptools (80) warns at each editable install about folders that have the name of the package.
warnings.filterwarnings("ignore", message="Editable installation")

found = find_namespace_packages(include=[f"{room}{below}" for room in ROOMS for below in ("", ".*")])
packages = [name for name in found if "__pycache__" not in name]
# setuptools excludes this script from the root package by its name.
setup(script_name="setup.py", packages=["agentdash", *(f"agentdash.{name}" for name in packages)])
