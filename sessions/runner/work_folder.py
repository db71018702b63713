"""The folder in which an agent works, opened at the moment of a start exactly as it was recorded.

A session's folder is recorded without symbolic links.  What lies below a lead's folder can be renamed by the lead, and
replaced with a link to any other place, which a sandbox of the next start would then make writable.  So each start
opens the folder component by component and follows no link, and the new process enters what was opened, not the path.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentdash.sessions.runner.processes import processes

_FLAGS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderError(OSError):
    """The folder cannot be used; the text is the reason shown to the user."""


@contextmanager
def opened(path: str) -> Iterator[str]:
    """Yield a name of the folder that stays the same folder, whatever becomes of its path meanwhile.

    The name is valid in this process and in a child until the child's exec.

    Args:
        path: the folder as it was recorded: absolute, without symbolic links.

    Raises:
        FolderError: it is gone, may not be entered, or a link now leads to another folder.
    """
    descriptor = _open(path)
    try:
        yield processes.descriptor_path(descriptor)
    finally:
        os.close(descriptor)


def check(path: str) -> None:
    """Check that the folder is the one that was recorded.

    Raises:
        FolderError: as for :func:`opened`.
    """
    with opened(path):
        pass


def _open(path: str) -> int:
    if not path.startswith("/"):
        raise FolderError(f"the folder {path} does not exist")
    descriptor, there = os.open("/", _FLAGS), Path("/")
    for name in Path(path).parts[1:]:
        there /= name
        try:
            below = os.open(name, _FLAGS, dir_fd=descriptor)
        except OSError as error:
            raise FolderError(_reason(error, path, there)) from None
        except ValueError as error:  # a NUL byte, a lone surrogate
            raise FolderError(f"the folder cannot be opened: {error}") from None
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def _reason(error: OSError, path: str, there: Path) -> str:
    """Return why a component of the path cannot be opened."""
    if error.errno == errno.ENOENT:
        return f"the folder {path} does not exist"
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        if there.is_symlink():
            what = "it" if str(there) == path else path
            return (
                f"{there} is a symbolic link now, so {what} is no longer the folder in which the session began; put the"
                " folder back, or continue the conversation in another one"
            )
        return f"{there} is not a folder"
    if error.errno == errno.EACCES:
        return f"the folder {path} cannot be entered: permission denied"
    return f"the folder {path} cannot be opened: {error.strerror or error}"
