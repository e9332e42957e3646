"""The laboratory: benchmarks, experiments on the paper and its family, term extraction.

Nothing imports it.
"""
