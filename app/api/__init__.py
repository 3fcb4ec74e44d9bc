"""HTTP in, JSON out. One file a resource, named as in the URL."""
