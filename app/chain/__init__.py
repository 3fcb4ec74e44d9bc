"""How every model request is assembled."""
