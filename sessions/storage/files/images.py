"""The images of a session's prompts: copies in its folder, for its user alone."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from agentdash.sessions.model.errors import UsageError
from agentdash.sessions.rules.prompts import images
from agentdash.sessions.rules.prompts.images import MOST_BYTES, MOST_IMAGES, Picture
from agentdash.sessions.storage.paths import SessionFolder
from agentdash.sessions.text.sanitize import one_line
from agentdash.sessions.text.units import size


def with_images(folder: SessionFolder, text: str, files: Sequence[str], cwd: str | None, most: int) -> str:
    """Copy images into a session's folder, and return the text with their marks.

    Args:
        files: the files to add behind the text; those that the text names as ``@shot.png`` are replaced in it, if they
            exist.
        cwd: the folder of relative names in the text; None if it may name no files.
        most: the bytes of all images of a prompt that the agent takes.

    Raises:
        UsageError: a file does not exist, cannot be read, is not an image, or is too large.
    """
    words = images.typed(text) if cwd is not None else []
    named = {word: path for word in words if (path := Path(cwd or "", word)).is_file()}
    found = {path: _read(path) for path in dict.fromkeys([*named.values(), *map(Path, files)])}
    if len(found) > MOST_IMAGES:
        raise UsageError(f"{len(found)} images are too many: at most {MOST_IMAGES} in one prompt.")
    if (total := sum(map(len, found.values()))) > most:
        raise UsageError(f"The images have {size(total)}: the agent takes at most {size(most)} in one prompt.")
    marks = {path: images.mark(_keep(folder, path.name, data), len(data)) for path, data in found.items()}
    text = images.replaced(text, {word: marks[path] for word, path in named.items()})
    added = [marks[path] for path in dict.fromkeys(map(Path, files))]
    return "\n\n".join(filter(None, [text, " ".join(added)]))


def pictures_in(folder: SessionFolder, text: str, read: Callable[[Path], bytes] = Path.read_bytes) -> list[Picture]:
    """Return the images that the marks of a prompt name; a mark without a copy is a text like any other."""
    found = []
    for name in images.marked(text)[:MOST_IMAGES]:
        path = folder.images / name
        with suppress(OSError):
            if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
                continue
            data = read(path)
            if (kind := images.media_type(data)) is not None:
                found.append(Picture(name, str(path), kind, data))
    return found


def _read(path: Path) -> bytes:
    """Return an image.

    Raises:
        UsageError: it does not exist, cannot be read, is not an image, or is too large.
    """
    name = one_line(str(path))
    try:
        if not path.is_file():  # a pipe or a device has no end
            raise UsageError(f"{name} is not a file." if path.exists() else f"No such image: {name}.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"The image {name} cannot be read: {error.strerror or error}.") from None
    if len(data) > MOST_BYTES:
        raise UsageError(f"The image {name} is too large: at most {size(MOST_BYTES)}.")
    if images.media_type(data) is None:
        raise UsageError(f"{name} is not an image that agents take: PNG, JPEG, GIF or WebP.")
    return data


def _keep(folder: SessionFolder, name: str, data: bytes) -> str:
    """Copy an image into the session's folder, and return its name there; the same image is kept once."""
    folder.images.mkdir(parents=True, mode=0o700, exist_ok=True)
    taken: set[str] = set()
    while True:
        own = images.plain_name(name, taken)
        path = folder.images / own
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            if not path.is_symlink() and path.read_bytes() == data:
                return own
            taken.add(own)
            continue
        except OSError as error:
            raise UsageError(f"The image {name} cannot be kept: {error.strerror or error}.") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        return own
