"""The paper's experiments, rerun: `bamsoo reproduce`.

An experiment is a list of tasks, each a run of its own that is made and stored by the laboratory's
job runner (`bamsoo.lab.jobs`), and a way to write up what came out (`output.py`).

==============  ===============================================================
priors          kernel hyper-parameters of the test functions, and where they come from
feasible        Sec. 2.1's figure: feasible regions
trees           the figure of the trees of SOO and BaMSOO
benchmarks      Sec. 6's figures: log distance to the optimum against evaluations
variants        the same with other settings: what a missed result depends on
table           Table 1: seconds
coverage        theory (a): the confidence bounds hold with probability 1 - eta
lemma           theory (b): sigma(y) <= L ||x - y||
rates           theory (c, d): simple regret against expansions; B_N against depth
extraction      Sec. 7's figure: term extraction
==============  ===============================================================
"""
