"""The job runner of the laboratory: makes runs on several cores and stores them one by one.

A `Task` names a function of the laboratory and its settings. `perform` runs the tasks that are not
in a `Store` yet. `source` tells which stored runs the present source would make again.
"""
