"""Model providers: what leaves hango, and what comes back."""
