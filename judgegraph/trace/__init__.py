"""Spans: what was done for a sample, recorded while it is judged, stored beside its item, and told as a tree."""
