"""Adds the scripted agent to agentdash in each Python process that has this folder in PYTHONPATH.

Python imports this module by its name at the start.  It waits for agentdash's registry of agents to be imported, so
that a process loads nothing that it does not need.
"""

import sys
from importlib import import_module

REGISTRY = "agentdash.sessions.agents.registry"
KEEPER = "agentdash.sessions.runner.own_code"
"""Finds modules before every other finder, once it has kept their sources."""
HERE = __file__.rpartition("/")[0]


def add(registry):
    """Add the entry of the agent."""
    registry.REGISTRY["scripted"] = registry.Entry("scripted.adapter:Scripted")


class Adding:
    """Finds the registry as the other finders do, and adds the agent when it is loaded."""

    def find_spec(self, name, path=None, target=None):
        if name == KEEPER:
            import_module(REGISTRY)
        if name != REGISTRY:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                add(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def load_other():
    """Load the module of this name that Python would have found without this folder."""
    own = sys.modules.pop(__name__)
    folders = [folder for folder in sys.path if folder != HERE]
    kept, sys.path[:] = sys.path[:], folders
    try:
        __import__(__name__)
    except ImportError:
        pass
    finally:
        sys.path[:] = kept
        sys.modules[__name__] = own


if __name__ == "sitecustomize":
    sys.meta_path.insert(0, Adding())
    load_other()
