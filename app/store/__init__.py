"""PostgreSQL. The only place with SQL."""
