"""Install each tested version of the agent CLIs with npm, in a folder of its own: ``python tests/tools/install.py``.

The versions are those that `agentdash doctor` names as tested.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from real_clis import CLIS, PACKAGES, command_of

NPM = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"]


def install(name: str, version: str) -> None:
    """Install one version, and check that its command runs and is of this version."""
    command, package = command_of(name, version), PACKAGES[name]
    folder = command.parents[2]
    folder.mkdir(exist_ok=True)
    # npm 11 warns of install scripts that nothing allows, and a later one may skip them.
    wanted = {"private": True, "dependencies": {package: version}, "allowScripts": {package: True}}
    folder.joinpath("package.json").write_text(json.dumps(wanted, indent=2), encoding="utf-8")
    # A version of claude may want a newer Node than its program needs: npm says so and installs it.
    subprocess.run(NPM, cwd=folder, check=True)
    answer = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"{command}: {answer}")
    if version not in answer.split():
        sys.exit(f"{command} is not version {version}.")


if __name__ == "__main__":
    for name, version in CLIS:
        install(name, version)
