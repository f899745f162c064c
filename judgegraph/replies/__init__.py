"""Reading what a judge replied: JSON, forms in words, free text, token probabilities. Nothing is asked here."""
