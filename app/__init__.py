"""The hango server, and everything a worker shares with it."""
