"""Many workers on a virtual clock: the suite `parallel`.

The simulator is `clock.py`, the searches that can have several points out are `searches.py`, what
is run is `runs.py`, and what is made of it is `pages.py`.
"""
