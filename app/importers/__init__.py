"""Foreign transcripts in, a session and a report out: bytes to values, nothing stored here."""
