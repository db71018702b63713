"""Hundreds of hostile agents and a kill -9 here and there: afterwards nothing is left, lost, doubled or unreadable.

``make torture`` runs more cycles than ``make full``.  ``TORTURE_SEED`` repeats the dice of a run.
"""

import os
import sys

import pytest
from repetition import SEED, repeated

from torture.disk import LimitedFiles, make_disk
from torture.full_disk import FullDisk
from torture.harness import Torture
from torture.tables import disk_table, table

pytestmark = [
    pytest.mark.torture,
    pytest.mark.usefixtures("scripted_agent"),
    pytest.mark.skipif(sys.platform != "linux", reason="the harness finds processes in /proc"),
]

CYCLES = int(os.environ.get("TORTURE_CYCLES", str(repeated(60, 300))))
KILLS = int(os.environ.get("TORTURE_KILLS", str(CYCLES // 2)))
FRONTS = int(os.environ.get("TORTURE_FRONTS", "3"))


def told(report):
    """Every finding in full: pytest would shorten the list."""
    return "\n".join(f"{finding.kind}: {finding.text}" for finding in report.findings)


@pytest.mark.timeout(300 + 10 * CYCLES)
def test_nothing_is_left_lost_doubled_or_unreadable_whoever_is_killed(tmp_path, show):
    torture = Torture(tmp_path, seed=SEED, cycles=CYCLES, kills=KILLS, fronts=FRONTS)
    report = torture.run()
    show(table(torture, report))
    assert report.counts["cycles"] >= CYCLES
    assert sum(torture.faults.values()) >= KILLS
    assert report.counts["processes started"] > CYCLES
    assert report.findings == [], told(report)


@pytest.mark.parametrize("make", [make_disk, LimitedFiles], ids=["disk", "limit"])
def test_a_full_disk_loses_no_byte_that_was_written_and_no_outcome(tmp_path, show, make):
    disk = make(tmp_path)
    try:
        torture = FullDisk(tmp_path, disk, seed=SEED)
        report = torture.run()
    finally:
        disk.close()
    show(disk_table(torture, report))
    assert torture.counts["agents that met a full disk"] == 4
    assert report.counts["bytes compared"] > 0
    assert report.findings == [], told(report)
