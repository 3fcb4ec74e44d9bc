"""Commands that run beside the server: up, db, admin, secrets."""
