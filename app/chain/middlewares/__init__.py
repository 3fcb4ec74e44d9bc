"""The slots of the chain, one file each."""
