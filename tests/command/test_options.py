"""Text that is safe to show in a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from bamsoo.command.options import visible


def test_what_a_terminal_would_obey_is_shown_instead():
    assert visible("a\x1b[2Jb\n") == "a\\x1b[2Jb\\n"
    assert visible("right-to-left \u202e") == "right-to-left \\u202e"


@given(st.text())
def test_the_text_is_printable_and_printable_text_stays(text):
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)
