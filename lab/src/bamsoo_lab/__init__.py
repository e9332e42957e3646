"""The laboratory of bamsoo: benchmarks, experiments on the paper and its family, term extraction.

It is a distribution of its own, `bamsoo-lab`, and nothing in bamsoo imports it.
"""
