"""The colours can be read, and tell things apart."""

from itertools import combinations

import pytest
from rich.style import Style
from textual.color import Color

from agentdash.tui.themes import THEMES, after
from agentdash.widgets.drawing.painted_view import Ground, resolved
from agentdash.widgets.drawing.roles import ROLES, VARIABLES

OWN = {name: theme for name, theme in THEMES.items() if name != "terminal"}
MEANINGS = ("text-primary", "text-warning", "text-error", "text-success")
ON_CODE = ("code", "keyword", "string", "number", "name", "muted")
ON_CHANGES = ("added", "removed")
GROUNDS = ("-ground", "-word-ground")

# How the three kinds of colour blindness mix linear red, green and blue (Machado, Oliveira, Fernandes 2009).
BLINDNESS = {
    "protan": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deutan": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritan": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}


def linear(value):
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def luminance(color):
    red, green, blue = (linear(value) for value in color.normalized)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """By the definition of WCAG 2.2: 1 to 21."""
    lighter, darker = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def seen(color, matrix):
    """Red, green and blue (0 to 1, as a screen takes them) that look the same to a user who cannot tell them apart."""
    channels = [linear(value) for value in Color.parse(color).normalized]
    mixed = [sum(weight * value for weight, value in zip(row, channels, strict=True)) for row in matrix]
    return [min(1.0, max(0.0, value)) ** (1 / 2.4) for value in mixed]


@pytest.mark.parametrize("name", OWN)
def test_every_text_can_be_read(name):
    theme = OWN[name]
    colours = theme.variables
    pairs = [(colours[meaning], theme.background) for meaning in (*MEANINGS, "muted")]
    pairs += [(theme.foreground, ground) for ground in (theme.background, colours["block-cursor-background"])]
    pairs += [(theme.foreground, colours["cursor-blurred"])]
    assert [pair for pair in pairs if contrast(*pair) < 4.5] == []


@pytest.mark.parametrize("name", OWN)
def test_source_and_diffs_can_be_read(name):
    theme = OWN[name]
    colours = theme.variables
    pairs = [(colours[meaning], colours["code-ground"]) for meaning in ON_CODE]
    pairs += [(theme.foreground, colours["code-ground"]), (colours["hunk"], theme.background)]
    pairs += [(colours[side], colours[f"{side}{ground}"]) for side in ON_CHANGES for ground in GROUNDS]
    assert [pair for pair in pairs if contrast(*pair) < 4.5] == []


@pytest.mark.parametrize("name", THEMES)
def test_every_theme_has_a_look_for_every_role(name):
    without = {"margin", "cursor-blurred", "cursor-blurred-style", "focused-style"}
    assert set(VARIABLES) - without <= set(THEMES[name].variables)


@pytest.mark.parametrize("name", THEMES)
def test_every_role_has_the_colours_of_the_theme(name):
    theme = THEMES[name]
    variables = VARIABLES | theme.to_color_system().generate() | theme.variables
    ground, text = Color.parse(theme.background), Color.parse(theme.foreground)
    styles = {role: resolved(look, Ground(variables, Style(italic=True), ground, text)) for role, look in ROLES.items()}
    assert all(style.color is not None and style.bgcolor is not None and style.italic for style in styles.values())
    for role, meaning in (("failure", "error"), ("attention", "warning"), ("good", "success"), ("text", "foreground")):
        assert styles[role].color == Color.parse(getattr(theme, meaning)).rich_color
    for role, part in (("cursor", "block-cursor-background"), ("source", "code-ground"), ("added", "added-ground")):
        assert styles[role].bgcolor == (ground + Color.parse(variables[part])).rich_color
    assert styles["cursor-blurred"].color == text.rich_color
    assert styles["match"].reverse
    assert styles["strong"].bold
    assert bool(styles["dim"].dim) is (variables["muted-style"] == "dim")


def test_on_a_theme_that_leaves_it_open_the_text_is_what_can_be_read_best():
    for ground, expected in (("#000000", "#dddddd"), ("#ffffff", "#212121")):
        variables = VARIABLES | {"block-cursor-foreground": "auto 87%", "block-cursor-background": ground}
        style = resolved(ROLES["cursor"], Ground(variables, Style(), Color.parse("#123456"), Color.parse("red")))
        assert style.color.name == expected


@pytest.mark.parametrize("name", ["safe-dark", "safe-light"])
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_the_safe_themes_keep_what_came_and_what_went_apart_for_colour_blind_eyes(name, blindness):
    for kind in ("", *GROUNDS):
        one, other = (seen(OWN[name].variables[f"{side}{kind}"], BLINDNESS[blindness]) for side in ON_CHANGES)
        distance = sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
        assert distance > (0.05 if kind == "-ground" else 0.1), kind


@pytest.mark.parametrize("name", ["safe-dark", "safe-light"])
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_the_safe_themes_keep_outcomes_apart_for_colour_blind_eyes(name, blindness):
    matrix = BLINDNESS[blindness]
    meanings = ("text-warning", "text-error", "text-success")
    looks = {meaning: seen(OWN[name].variables[meaning], matrix) for meaning in meanings}
    for one, other in combinations(meanings, 2):
        distance = sum((a - b) ** 2 for a, b in zip(looks[one], looks[other], strict=True)) ** 0.5
        assert distance > 0.15, (one, other)


def test_the_key_goes_through_all_of_them():
    name, names = "agentdash-dark", []
    for _ in THEMES:
        names.append(name)
        name = after(name)
    assert name == "agentdash-dark"
    assert len(set(names)) == len(THEMES)
    assert after("somebody-elses") == "agentdash-dark"
