"""Samples on the page: which are shown, and what is told of each."""
