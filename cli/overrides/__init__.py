"""Commands that change what the next model call of a session will send, and compare calls."""
