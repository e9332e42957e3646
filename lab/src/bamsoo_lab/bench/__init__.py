"""The default compared with other optimisers: `bamsoo bench`.

A run is one method (`methods/`) on one case of a suite (`suites/`). It is measured by `measure.py`,
and made and stored by the job runner of the laboratory (`bamsoo_lab.jobs`). The runs of the peers
come with the package (`archive.py`); `plan.py` lists them. `report.py` knows how the runs of each
suite are measured and written up, `summary.py` collects the results of all suites, and `bench.py`
drives it all.

To add an optimiser, write an adapter in `methods/`. To add a suite, write a module in `suites/`.
"""
