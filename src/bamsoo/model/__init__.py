"""Gaussian-process models: kernels, posteriors, learned priors and transforms of values.

Nothing here decides where to evaluate; the algorithms do that.
"""
