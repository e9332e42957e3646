"""Text from files and programs, as it may be shown in a terminal."""


def visible(text: str) -> str:
    r"""The text with every character that is not printed as itself written as an escape.

    A terminal obeys sequences that begin with \x1b: they move the cursor, rename the window, or
    hide what was written.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
