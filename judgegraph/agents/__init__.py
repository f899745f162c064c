"""One role per file: each agent is a frozen dataclass that is a node."""
