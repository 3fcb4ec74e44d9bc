"""What happens between two model calls of a run."""
