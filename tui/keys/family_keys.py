"""The keys that go from a lead to its workers and back: rows of the registry in ``actions``."""

OPEN_WORKER = "steps.worker"
"""Enter on a step that started a worker: the key is that of ``steps.open``, and the footer names it there."""

TO_LEAD = "to_lead"
"""Goes from a worker to the step of its lead that started it."""

TO_LEAD_KEYS = ("circumflex_accent", "lead", "go to the step of its lead that started it")
"""Keys, label and help."""
