"""Samples and where they come from: JSON lines, tables and text, read row by row."""
