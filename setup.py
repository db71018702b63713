"""The packages of agentdash; everything else about the project stands in ``pyproject.toml``.

The repository root is the package ``agentdash``, and setuptools discovers no packages below a root of another name: the
list is made here, so that a new folder of modules or of data needs no entry.
"""

import warnings

from setuptools import find_namespace_packages, setup

ROOMS = ("sessions", "tui", "widgets")

# setuptools (80) ends every editable install with advice about folders that have the name of the package.
warnings.filterwarnings("ignore", message="Editable installation")

found = find_namespace_packages(include=[f"{room}{below}" for room in ROOMS for below in ("", ".*")])
packages = [name for name in found if "__pycache__" not in name]
# By its name setuptools knows which module of the root is this script, and no part of the package.
setup(script_name="setup.py", packages=["agentdash", *(f"agentdash.{name}" for name in packages)])
