"""Gaussian processes: kernels, posterior, learning, transforms of values. No search."""
