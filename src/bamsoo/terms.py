"""Term extraction, the paper's application, under its public name; it lives in the laboratory."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("bamsoo.lab.terms")
