"""The laboratory: benchmarks, the paper's experiments, term extraction. Nothing imports it."""
