"""Hundreds of hostile agents and a kill -9 here and there: afterwards nothing is left, lost, doubled or unreadable.

The short form is part of the tests; ``make torture`` runs the long one.  ``TORTURE_SEED`` repeats the dice of a run.
"""

import os
import random
import sys

import pytest

from torture.disk import LimitedFiles, make_disk
from torture.harness import FullDisk, Torture, disk_table, table

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the harness finds processes in /proc")

CYCLES = int(os.environ.get("TORTURE_CYCLES", "60"))
KILLS = int(os.environ.get("TORTURE_KILLS", str(CYCLES // 2)))
FRONTS = int(os.environ.get("TORTURE_FRONTS", "3"))


@pytest.fixture
def seed():
    """The seed of this run: given, or fresh and shown."""
    return int(os.environ.get("TORTURE_SEED") or random.SystemRandom().getrandbits(32))


def told(report):
    """Every finding in full: pytest would shorten the list."""
    return "\n".join(f"{finding.kind}: {finding.text}" for finding in report.findings)


@pytest.mark.timeout(300 + 10 * CYCLES)
def test_7_nothing_is_left_lost_doubled_or_unreadable_whoever_is_killed(tmp_path, seed, show):
    print(f"TORTURE_SEED={seed}")
    torture = Torture(tmp_path, seed=seed, cycles=CYCLES, kills=KILLS, fronts=FRONTS)
    report = torture.run()
    show(table(torture, report))
    assert report.counts["cycles"] >= CYCLES
    assert sum(torture.faults.values()) >= KILLS
    assert report.counts["processes started"] > CYCLES
    assert report.findings == [], told(report)


@pytest.mark.parametrize("make", [make_disk, LimitedFiles], ids=["disk", "limit"])
def test_a_full_disk_loses_no_byte_that_was_written_and_no_outcome(tmp_path, seed, show, make):
    disk = make(tmp_path)
    try:
        torture = FullDisk(tmp_path, disk, seed=seed)
        report = torture.run()
    finally:
        disk.close()
    show(disk_table(torture, report))
    assert torture.counts["agents that met a full disk"] == 4
    assert report.counts["bytes compared"] > 0
    assert report.findings == [], told(report)
