"""The table of features names tests that exist, and the names of tests are those of behaviours and not of features."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT, TESTS

TABLE = ROOT / "docs" / "features.md"
ROW = re.compile(r"^\| ([A-Z]{1,2}\d{1,2}) \|.*\| (.+) \|$", re.MULTILINE)
"""A feature: its id and its tests."""
NAMED = re.compile(r"`([^`]+)`")
AFTER_A_FEATURE = re.compile(r"test_(?:[A-Za-z]{1,2})?\d")
"""The beginning of a name such as ``test_K3_stop``, ``test_zx12_tokens`` or ``test_7_views``."""


def features_in(table: str) -> Iterator[tuple[str, str]]:
    """Yield each feature of a table with each of its tests; a feature without a test has an empty one."""
    for feature, cell in ROW.findall(table):
        for test in NAMED.findall(cell) or [""]:
            yield feature, test


def names_in(source: str) -> Iterator[str]:
    """Yield the names of the tests of a module, with their class if they have one."""
    for node in ast.parse(source).body:
        for one in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name.startswith("test_"):
                yield one.name if one is node else f"{node.name}::{one.name}"  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def every_test() -> set[str]:
    """All tests, as the table names them."""
    return {
        f"{path.relative_to(ROOT).as_posix()}::{name}"
        for path in sorted(Path(TESTS).rglob("test_*.py"))
        for name in names_in(path.read_text(encoding="utf-8"))
    }


def test_every_test_in_the_table_of_features_exists(every_test: set[str]) -> None:
    named = list(features_in(TABLE.read_text(encoding="utf-8")))
    assert len(named) > 100
    missing = [f"{feature}: {test}" for feature, test in named if test not in every_test]
    assert not missing, "\n".join(missing)


def test_every_feature_has_one_row_and_every_row_is_read() -> None:
    table = TABLE.read_text(encoding="utf-8")
    rows = [
        line for line in table.splitlines() if line.startswith("| ") and not line.startswith(("| feature", "| ---"))
    ]
    features = [feature for feature, _ in ROW.findall(table)]
    assert len(rows) == len(features) == len(set(features))


def test_no_test_is_named_after_a_feature(every_test: set[str]) -> None:
    wrong = [test for test in every_test if AFTER_A_FEATURE.match(test.rpartition("::")[2])]
    assert not wrong, "Name it after what it shows, and add it to docs/features.md:\n" + "\n".join(sorted(wrong))


def test_a_table_is_read_with_its_tests() -> None:
    table = "# Features\n\n| feature | what | test |\n| --- | --- | --- |\n| K3 | It stops | `a::b`<br>`c::d` |\n"
    assert list(features_in(table)) == [("K3", "a::b"), ("K3", "c::d")]
    assert list(features_in("| ZX12 | It counts | to come |")) == [("ZX12", "")]


def test_tests_are_found_in_modules_and_classes() -> None:
    source = "def test_a(): ...\nasync def test_b(): ...\ndef helper(): ...\nclass TestC:\n    def test_d(self): ...\n"
    assert list(names_in(source)) == ["test_a", "test_b", "TestC::test_d"]


@pytest.mark.parametrize("name", ["test_K3_stop", "test_zx12_tokens", "test_7_views", "test_d17_d18_counts"])
def test_a_name_of_a_feature_is_found(name: str) -> None:
    assert AFTER_A_FEATURE.match(name)


@pytest.mark.parametrize("name", ["test_a_stop", "test_the_key_f2", "test_P_pins", "test_utf8"])
def test_other_names_are_fine(name: str) -> None:
    assert not AFTER_A_FEATURE.match(name)
