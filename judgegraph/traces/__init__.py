"""Traces of runs: spans joined with what items and ledger hold; redacted, ranked, sent to OpenTelemetry."""
