"""A graph written as a YAML or JSON file."""
