"""The verb that looks at the installation itself: doctor."""

import click

from . import common


@click.command()
@common.json_option
def doctor(as_json: bool) -> int:
    """Look at everything agentdash needs, and say what to do about what is wrong.

    Exits 0 if nothing is broken, else 1.
    """
    from ...sessions.doctor.checks import examine
    from ...sessions.layout import Layout, default_home

    # No manager: it would make the state folder, and a database it cannot open would end the examination.
    findings = examine(Layout(default_home()))
    if as_json:
        common.print_json(findings)
    else:
        from ..render.findings import findings_text

        common.say(findings_text(findings, common.look()))
    return common.FAILED if any(finding.state == "fail" for finding in findings) else 0
