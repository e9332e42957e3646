"""The laboratory: benchmarks, experiments on the paper and its family, term extraction.

Nothing outside it imports it.
"""
