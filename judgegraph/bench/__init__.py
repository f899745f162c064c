"""Collections of human judgements with published figures, read from a folder of the user's own."""
