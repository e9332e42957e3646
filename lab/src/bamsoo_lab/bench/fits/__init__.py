"""Fits of models to data: what the suite `fits` compares methods on."""
