"""Plans: what a run would ask for and cost, found by a dry run that sends nothing."""
