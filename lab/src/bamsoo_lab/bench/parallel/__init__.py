"""Many workers on a virtual clock: the suite `parallel`.

`clock.py` is the simulator, `searches.py` has the searches that allow several pending points,
`runs.py` defines the runs, and `pages.py` writes the results.
"""
