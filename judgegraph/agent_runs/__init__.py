"""Runs of agents as samples: readers of the formats in which they are kept, each to one sample, without loss."""
