"""The documentation, and the programs that write the generated pages of it."""
