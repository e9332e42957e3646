"""The paper's experiments, rerun: `bamsoo reproduce`.

An experiment is a list of tasks and a function that writes up their results (`output.py`). Each
task is one run, which the job runner of the laboratory (`bamsoo_lab.jobs`) makes and stores.

==============  ===============================================================
priors          kernel hyper-parameters of the test functions, and where they come from
feasible        Sec. 2.1's figure: feasible regions
trees           the figure of the trees of SOO and BaMSOO
benchmarks      Sec. 6's figures: log distance to the optimum against evaluations
variants        the same with other settings: what the results depend on
table           Table 1: seconds
coverage        theory (a): the confidence bounds hold with probability 1 - eta
lemma           theory (b): sigma(y) <= L ||x - y||
rates           theory (c, d): simple regret against expansions; B_N against depth
extraction      Sec. 7's figure: term extraction
==============  ===============================================================
"""
