"""Other people's judges: how each words its question and its reply. Nothing is asked here."""
