"""How test runs went, by exit code and by what stands at the end of the output."""

from hostile_text import REMOVED, nasty
from hypothesis import given

from agentdash.sessions.model.session import Step, StepKind, StepStatus
from agentdash.sessions.rules.digest.test_results import suite_run
from agentdash.sessions.text.sanitize import cell_width


def run(command, output="", exit_code=0, status=StepStatus.OK):
    return suite_run(Step(kind=StepKind.COMMAND, command=command, output=output, exit_code=exit_code, status=status))


def test_the_exit_code_tells_and_the_summary_is_what_stands_at_the_end():
    output = "....F\nFAILED tests/a.py::test_b - assert 1\n41 passed, 2 failed in 3.2s\n"
    failed = run("pytest -q", output, 1, StepStatus.FAILED)
    assert (failed.passed, failed.exit_code, failed.summary) == (False, 1, "41 passed, 2 failed in 3.2s")
    passed = run("cd api && pytest", "==== \x1b[32m41 passed\x1b[0m in 3.2s (0:00:03) ====\n")
    assert (passed.passed, passed.summary) == (True, "41 passed in 3.2s (0:00:03)")
    assert run("make check", "all good").summary is None


def test_what_is_not_known_stays_so():
    assert run("pytest | tail -1", "a line").passed is None
    assert run("pytest", exit_code=None, status=StepStatus.RUNNING).passed is None
    assert run("pytest", exit_code=None, status=StepStatus.INTERRUPTED).passed is None
    assert run("pytest", exit_code=None, status=StepStatus.FAILED).passed is False
    assert run("pytest", exit_code=None, status=StepStatus.DECLINED) is None


CARGO = """running 12 tests
test result: {} finished in 0.01s

   Doc-tests api

running 0 tests

test result: ok. 0 passed; 0 failed; finished in 0.00s
"""


def test_where_the_exit_code_is_another_programs_the_summary_tells():
    for output, passed, summary in [
        ("== 1 failed, 41 passed in 3.2s ==", False, "1 failed, 41 passed in 3.2s"),
        ("collected 12 items / 1 error\n== ERRORS ==\nx\n== 1 error in 0.3s ==", False, "1 error in 0.3s"),
        ("no tests ran in 0.01s", None, "no tests ran in 0.01s"),
        ("----\nRan 12 tests in 0.003s\n\nOK\n", True, "Ran 12 tests in 0.003s, OK"),
        ("Ran 12 tests in 0.1s\n\nFAILED (failures=1)", False, "Ran 12 tests in 0.1s, FAILED (failures=1)"),
        ("Tests:       1 failed, 12 passed, 13 total\nTime: 2 s", False, "Tests: 1 failed, 12 passed, 13 total"),
        ("      Tests  12 passed (12)\n   Start at 10:00", True, "Tests 12 passed (12)"),
        ("  12 passing (30ms)\n  1 failing\n\n  1) expiry", False, "12 passing (30ms), 1 failing"),
        ("ok  \tapi/a\t0.2s\nok  \tapi/b\t(cached)", True, "ok api/a 0.2s, ok api/b (cached)"),
        ("--- FAIL: TestB (0.0s)\nFAIL\nFAIL\tapi/b\t0.003s\nFAIL", False, "FAIL, FAIL api/b 0.003s, FAIL"),
        (CARGO.format("ok. 12 passed; 0 failed;"), True, "test result: ok. 12 passed; 0 failed; finished in 0.01s"),
        (CARGO.format("FAILED. 11 passed; 1 failed;"), False,
         "test result: FAILED. 11 passed; 1 failed; finished in 0.01s"),
        ("100% tests passed, 0 tests failed out of 5\n", True, "100% tests passed, 0 tests failed out of 5"),
        ("80% tests passed, 1 tests failed out of 5\n", False, "80% tests passed, 1 tests failed out of 5"),
        ("[INFO] Tests run: 5, Failures: 0, Errors: 0\n", True, "[INFO] Tests run: 5, Failures: 0, Errors: 0"),
        ("[ERROR] Tests run: 5, Failures: 1, Errors: 0\n", False, "[ERROR] Tests run: 5, Failures: 1, Errors: 0"),
        ("Passed!  - Failed:     0, Passed:     5", True, "Passed! - Failed: 0, Passed: 5"),
        ("Failed!  - Failed:     1, Passed:     5", False, "Failed! - Failed: 1, Passed: 5"),
        ("12 examples, 0 failures", True, "12 examples, 0 failures"),
        ("12 tests, 1 failure", False, "12 tests, 1 failure"),
        ("OK (12 tests, 30 assertions)", True, "OK (12 tests, 30 assertions)"),
        ("# tests 3\n# pass 2\n# fail 1\n# skipped 0", False, "# pass 2, # fail 1"),
        (" 12 pass\n 0 fail\n 30 expect() calls\nRan 12 tests across 3 files. [12ms]", True,
         "12 pass, 0 fail, 30 expect() calls, Ran 12 tests across 3 files. [12ms]"),
    ]:  # fmt: skip
        told = run("pytest 2>&1 | tail -20", output)
        assert (told.passed, told.summary) == (passed, summary), output


@given(nasty)
def test_what_is_kept_of_foreign_text_is_clean_and_short(text):
    told = run(f"pytest '{text}'\npytest", f"{text}\n3 passed {text * 10}", 1)
    for kept in (told.command, told.summary or "") if told else ():
        assert cell_width(kept) <= 120
        assert not REMOVED & set(kept)
        assert "\n" not in kept
