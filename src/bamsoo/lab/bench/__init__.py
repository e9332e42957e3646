"""The default compared with other optimisers: `bamsoo bench`.

A run is one method (`methods.py`) on one case of a suite (`suites/`), measured by `measure.py` and
made and stored by the laboratory's job runner (`bamsoo.lab.jobs`). Peers' runs come with the
package (`archive.py`); which of them, `plan.py` says. `report.py` knows how the runs of each suite
are measured and written up, and `bench.py` drives it all.

To add an optimiser, write an adapter in `methods.py`. To add a suite, write a module in `suites/`.
"""
