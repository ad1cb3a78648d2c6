"""Plans, players, runs, statistics and boards."""
