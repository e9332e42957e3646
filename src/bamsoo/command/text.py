"""Text from files and programs, made safe to show in a terminal."""


def visible(text: str) -> str:
    r"""The text with every character that is not printable replaced by an escape sequence.

    A terminal obeys sequences that begin with \x1b, which can move the cursor, rename the window,
    or hide text.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
