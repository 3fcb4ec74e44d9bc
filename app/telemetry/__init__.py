"""What hango says about itself: logs, spans, metrics."""
