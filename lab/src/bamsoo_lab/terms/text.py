"""Splits text into segments of words; defines what a word and a break are."""

import re

# A word: letters and digits, with - ' + inside and + at the end, as in b-12, o'clock and c++.
_WORD = re.compile(r"[^\W_]+(?:[-'+]+[^\W_]+)*(?:[-'+]*\+)?")

# A break: punctuation other than - ' +, or a dash on its own.
_BREAK = re.compile(r"[^\w\s'+-]|_|(?<!\S)-+(?!\S)")

_STOP_WORDS = """
a about above after again against all also although am among an and any are as at be became
because become been before being below between both but by can cannot could did do does doing done
down due during each either et etc few for from further had has have having he hence her here hers
him his how however i if in into is it its itself may me might more most much must my neither no
nor not now of off on once one only onto or other our ours out over own per rather same several
she should since so some such than that the their theirs them themselves then there thereby
therefore these they this those though through thus to together too toward towards under until up
upon us use used using very via was we were what when where whereas whether which while who whom
whose why will with within without would yet you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that no term begins or ends with, unless the caller passes others."""


def segments(sentence: str) -> list[list[str]]:
    """Split a sentence at its punctuation into non-empty segments of lower-cased words."""
    pieces = (_WORD.findall(piece) for piece in _BREAK.split(sentence.lower()))
    return [words for words in pieces if words]


def as_term(surface: str) -> str | None:
    """The words of a marked term joined by single spaces, or None if a break divides it."""
    found = segments(surface)
    return " ".join(found[0]) if len(found) == 1 else None
