"""The laboratory's job runner: runs as data, made on several cores, stored one by one.

A `Task` names a function of the laboratory and its settings; `perform` runs tasks that a `Store`
does not hold yet. `source` says which stored runs the present source would make again.
"""
