"""A graph over a dataset: samples in, a folder of results out."""
