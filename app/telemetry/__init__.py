"""What hango says about itself: logs now, traces and metrics beside them."""
