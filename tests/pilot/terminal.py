"""What the terminal of a dashboard in a test shows."""

from textual._context import visible_screen_stack


def strips(app):
    """Return the lines of the screen; a dialog draws the screens behind it, which Textual passes in a variable."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()
