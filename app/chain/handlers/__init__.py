"""What carries out the built-in tools: inputs checked, over ports, with texts for the model."""
