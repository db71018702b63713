"""The keys of the list of steps."""

from textual.binding import Binding, BindingType

from agentdash.widgets.steps.filtered_steps import GROUPS

STEP_KEYS: list[BindingType] = [
    Binding("j,down", "step(1)", "next step (long steps: line down)", show=False, id="steps.down"),
    Binding("k,up", "step(-1)", "previous step", show=False, id="steps.up"),
    Binding("g,home", "first", "top", show=False, id="steps.first"),
    Binding("G,end", "last", "bottom (and follow)", show=False, id="steps.last"),
    Binding("enter", "open", "open the step, or the worker that it started", show=False, id="steps.open"),
    Binding("l,right", "unfold(1)", "expand", show=False, id="steps.more"),
    Binding("h,left", "unfold(-1)", "collapse", show=False, id="steps.less"),
    Binding("z", "fold_all", "cycle fold: one line / preview / full", show=False, id="steps.fold"),
    Binding("right_square_bracket", "turn(1)", "next turn", show=False, id="steps.next_turn"),
    Binding("left_square_bracket", "turn(-1)", "start of the turn, then previous turn", id="steps.previous_turn"),
    Binding("right_parenthesis", "failure(1)", "next failure", show=False, id="steps.next_failure"),
    Binding("left_parenthesis,E", "failure(-1)", "previous failure", show=False, id="steps.previous_failure"),
    Binding("right_curly_bracket", "prompt(1)", "next prompt", show=False, id="steps.next_prompt"),
    Binding("left_curly_bracket", "prompt(-1)", "previous prompt", show=False, id="steps.previous_prompt"),
    Binding("full_stop", "unread", "first unread step", show=False, id="steps.unread"),
    Binding("backspace", "back", "back to before the jump", show=False, id="steps.jump_back"),
    *(Binding(group.key, f"group('{group.key}')", "", show=False) for group in GROUPS),
    Binding("0", "all", "all kinds of steps", show=False, id="steps.all"),
]
