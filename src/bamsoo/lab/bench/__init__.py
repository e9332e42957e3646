"""The default beside other optimisers: `bamsoo bench`.

A run is one method on one case (`suites.py`, `methods.py`), measured by `measure.py`, kept as
a line of a file when it is finished (`store.py`), and read again by the report.
"""
