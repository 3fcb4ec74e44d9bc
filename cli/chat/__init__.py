"""`hango chat`: a conversation with an agent, turn by turn."""
