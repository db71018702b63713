"""The keys in force: the registry's defaults, overridden by ``[keys]`` of the settings."""

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from itertools import combinations
from typing import Any

from msgspec import Struct, field

from agentdash.sessions.model.errors import ConfigError
from agentdash.sessions.settings.config import Loaded, unusable
from agentdash.tui.keys import key_names
from agentdash.tui.keys.action import MENUS, Action, Place, menu_id
from agentdash.tui.keys.actions import MATCHES, REGISTRY

NEVER = "<ignore>"
"""A key name that no key has, for Textual (8.2): an empty name would leave the default in force."""


class UnusableKeyError(ValueError):
    """A line of ``[keys]`` that cannot be used.

    Attributes:
        path: the line's name, after the names of its tables below ``[keys]``.
    """

    def __init__(self, path: tuple[str, ...], why: str) -> None:
        super().__init__(why)
        self.path = path


class Keymap(Struct, frozen=True):
    """The keys in force."""

    changed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Textual names of the keys of each action that differs from its default; empty if the action has no key."""
    silenced: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """All keys of each action that lost a key which is not shown to another action."""

    def keys(self, action: Action, without: Collection[str] = ()) -> tuple[str, ...]:
        """Return the Textual names of an action's keys, except ``without``, which are bound to something else."""
        return tuple(key for key in self.changed.get(action.id, action.named) if key not in without)

    def acting(self, action: Action, without: Collection[str] = ()) -> tuple[str, ...]:
        """Return all keys that run the action, also those that are not shown."""
        keys = self.changed.get(action.id, self.silenced.get(action.id, action.acting))
        return tuple(key for key in keys if key not in without)

    def name(self, action_id: str) -> str:
        """Return the action's first key as users write it, or its command-line name if it has no key."""
        keys = self.keys(REGISTRY[action_id])
        return self.shown(keys[0]) if keys else f":{action_id}"

    def shown(self, key: str) -> str:
        """Return a key as users write it; a key of a menu follows the key that opens the menu now."""
        letter, blank, _ = key.partition(" ")
        opens = self.keys(REGISTRY[menu_id(letter)])[:1] if blank else ()
        return " ".join(
            map(key_names.shown, key.replace(f"{letter} ", f"{opens[0]} ", 1).split(" ") if opens else [key])
        )

    def in_text(self, action_id: str) -> str:
        """Return the action's first key that acts where the user writes, as users write it; empty if it has none."""
        keys = (key for key in self.acting(REGISTRY[action_id]) if not key_names.types(key))
        return next(map(key_names.shown, keys), "")

    def names(self, action: Action, without: Collection[str] = ()) -> str:
        """Return all keys of the action as users write them, or its command-line name if it has none."""
        return "  ".join(map(self.shown, self.keys(action, without))) or f":{action.id}"

    def taken(self, place: Place, searching: bool = False) -> frozenset[str]:
        """Return the keys that have a meaning of their own in this place, different from the whole screen's.

        Some have it only during a search.
        """
        there = (action for action in REGISTRY.values() if place in action.where)
        inner = (action for action in there if searching or action.id not in MATCHES)
        narrow = (action for action in inner if not {Place.TABLE, Place.STEPS} <= action.where)
        return frozenset(key for action in narrow for key in self.acting(action))

    def for_textual(self) -> dict[str, str]:
        """Return the keymap as ``App.set_keymap`` takes it."""
        return {name: ",".join(keys) or NEVER for name, keys in (self.silenced | self.changed).items()}


DEFAULT = Keymap()
"""The default keys."""

_GIVES_WAY = "redraw"
"""The action whose usual key the user can give to any other action without giving it a new one."""


def keymap(stated: Mapping[str, Any]) -> Keymap:
    """Return the default keys, overridden by those of the settings.

    Args:
        stated: one key or several by the name of an action; the part before a dot may be a table of its own.

    Raises:
        UnusableKeyError: an unknown action or key, a reserved key, or two actions on one key in one place.
    """
    paths = dict(_flat(stated, ()))
    changed = {name: _keys(name, path, value) for name, (path, value) in paths.items()}
    if _GIVES_WAY not in changed:
        wanted = {key for keys in changed.values() for key in keys}
        usual = REGISTRY[_GIVES_WAY].named
        if wanted.intersection(usual):
            changed[_GIVES_WAY] = tuple(key for key in usual if key not in wanted)
    made = Keymap(changed, _silenced(changed))
    for one, other in combinations(REGISTRY.values(), 2):
        if (one.id in changed or other.id in changed) and (key := _clash(made, one, other)):
            blamed, kept = (other, one) if other.id in changed else (one, other)
            raise UnusableKeyError(paths[blamed.id][0], _told(key, blamed, kept))
    return made


def _silenced(changed: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the keys that are left to the actions of which a key that is not shown was given to another action."""
    silenced = {}
    for action in REGISTRY.values():
        if action.id not in changed and action.acting != action.named:
            others = [REGISTRY[name] for name in changed if REGISTRY[name].where & action.where]
            wanted = {key for other in others for key in changed[other.id]} - set(action.named)
            if wanted.intersection(action.acting):
                silenced[action.id] = tuple(key for key in action.acting if key not in wanted)
    return silenced


def keys_in_force(loaded: Loaded) -> Keymap:
    """Return the keys that the settings define.

    Raises:
        ConfigError: a key cannot be used.
    """
    try:
        return keymap(loaded.config.keys)
    except UnusableKeyError as error:
        raise unusable(loaded, ("keys", *error.path), str(error)) from None


def check_keys(loaded: Loaded) -> None:
    """Check the keys, without a profile and under each profile of the file.

    Raises:
        ConfigError: a key cannot be used.
    """
    for name in ("", *loaded.profiles):
        try:
            keys_in_force(loaded.under(name))
        except ConfigError as error:
            if not name:
                raise
            raise ConfigError(f"{error} (under the profile {name})", error.line, error.key) from None


def _flat(stated: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, tuple[tuple[str, ...], Any]]]:
    for name, value in stated.items():
        if isinstance(value, Mapping):
            yield from _flat(value, (*path, name))
        else:
            yield ".".join((*path, name)), ((*path, name), value)


def _keys(name: str, path: tuple[str, ...], value: Any) -> tuple[str, ...]:
    action = REGISTRY.get(name)
    if action is None:
        raise UnusableKeyError(path, f"Unknown action {name!r}.{_near(name)} List them: agentdash config keys.")
    if action.fixed:
        raise UnusableKeyError(path, f"{name} cannot be rebound ({DEFAULT.names(action)}).")
    spelled = [value] if isinstance(value, str) else list(value)
    return tuple(dict.fromkeys(_key(action, path, spelling) for spelling in spelled if spelling))


def _key(action: Action, path: tuple[str, ...], spelling: str) -> str:
    menu, blank, letter = spelling.partition(" ")
    if blank and letter and menu not in MENUS:
        menus = ", ".join(f"{one} ({title})" for one, (_, title) in MENUS.items())
        raise UnusableKeyError(path, f"{spelling!r}: {menu!r} is not a menu. The menus are {menus}.")
    key = key_names.textual_name(letter or spelling)
    if key is not None and letter:
        key = f"{menu} {key}"
    if key is None:
        example = "Examples: x, X, ?, space, f5, pgdn, ctrl+x, alt+x, g u."
        raise UnusableKeyError(path, f"Unknown key {spelling!r}. {example}")
    if action.where == {Place.PROMPT} and (key_names.types(key) or key in ("backspace", "delete")):
        raise UnusableKeyError(path, f"{key_names.shown(key)} types text in a prompt and cannot be bound there.")
    return key


def _near(name: str) -> str:
    last = name.rpartition(".")[2]
    close = [one for one in REGISTRY if one.endswith(f".{last}")] or get_close_matches(name, REGISTRY, 3)
    return f" Did you mean {' or '.join(close[:5])}?" if close else ""


def _clash(made: Keymap, one: Action, other: Action) -> str | None:
    """Return a key that does two things in one place, or None.

    A key that both actions have by default is not a clash: some keys have another meaning inside a pane.
    """
    shared = one.where & other.where
    by_default = set(one.named) & set(other.named)
    for key in made.keys(one):
        if _where(key, shared) and key in made.keys(other) and key not in by_default:
            return key
    return None


def _where(key: str, places: frozenset[Place]) -> frozenset[Place]:
    """Return the places in which a key acts: in a prompt, a character is text."""
    return places - {Place.PROMPT} if key_names.types(key) else places


def _told(key: str, blamed: Action, kept: Action) -> str:
    places = ", ".join(place for place in Place if place in _where(key, blamed.where & kept.where))
    keeps = "which cannot be rebound" if kept.fixed else f"rebind {kept.id} too, or unbind it"
    return f"{key_names.shown(key)} cannot be bound to {blamed.id}: it is {kept.id} ({kept.help}) in {places}; {keeps}."
