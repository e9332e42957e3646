"""Term extraction, the paper's application: the public name of the module `bamsoo.lab.terms`."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("bamsoo.lab.terms")
