"""`python -m cli` is `hango`."""

from cli.main import main

main()
