"""KeyboardInterrupt at a chosen line of the library, as Ctrl-C may come at any."""

import sys
from pathlib import Path

import bamsoo

SOURCE = str(Path(bamsoo.__file__).parent)


class AtLine:
    """Inside the block, counts the lines of the library that run, and interrupts at one of them."""

    def __init__(self, line=None):
        self.count, self._line = 0, line

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _call(self, frame, event, arg):
        return self._at if frame.f_code.co_filename.startswith(SOURCE) else None

    def _at(self, frame, event, arg):
        if event == "line":
            self.count += 1
            if self.count == self._line:
                raise KeyboardInterrupt
        return self._at
