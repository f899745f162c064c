"""Bridging: judgements of other projects made into training data with criteria and guidelines."""
