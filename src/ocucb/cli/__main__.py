"""So that `python -m ocucb.cli` is `ocucb`."""

from ocucb.cli import main

main()
