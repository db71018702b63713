"""The keys of the list of steps."""

from textual.binding import Binding, BindingType

from .step_groups import GROUPS

STEP_KEYS: list[BindingType] = [
    Binding("j,down", "step(1)", "the next step; one line, if it is long", show=False, id="steps.down"),
    Binding("k,up", "step(-1)", "the step before it", show=False, id="steps.up"),
    Binding("g,home", "first", "the beginning", show=False, id="steps.first"),
    Binding("G,end", "last", "the end, and follow", show=False, id="steps.last"),
    Binding("enter", "open", "the step in a pane of its own", show=False, id="steps.open"),
    Binding("l,right", "unfold(1)", "more of the step", show=False, id="steps.more"),
    Binding("h,left", "unfold(-1)", "less of the step", show=False, id="steps.less"),
    Binding("z", "fold_all", "all steps: one line, usual, whole", show=False, id="steps.fold"),
    Binding("right_square_bracket", "turn(1)", "the next turn", show=False, id="steps.next_turn"),
    Binding("left_square_bracket", "turn(-1)", "the turn's beginning; the one before", id="steps.previous_turn"),
    Binding("right_parenthesis", "failure(1)", "the next failure", show=False, id="steps.next_failure"),
    Binding("left_parenthesis,E", "failure(-1)", "the failure before", show=False, id="steps.previous_failure"),
    Binding("right_curly_bracket", "prompt(1)", "the next prompt", show=False, id="steps.next_prompt"),
    Binding("left_curly_bracket", "prompt(-1)", "the prompt before", show=False, id="steps.previous_prompt"),
    Binding("full_stop", "unread", "the first step that is new since you looked", show=False, id="steps.unread"),
    Binding("backspace", "back", "back to where you were before a jump", show=False, id="steps.jump_back"),
    *(Binding(group.key, f"group('{group.key}')", "", show=False) for group in GROUPS),
    Binding("0", "all", "steps of all kinds", show=False, id="steps.all"),
]
