"""Values and rules. No framework, no database, no network."""
