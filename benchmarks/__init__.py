"""Every figure that README and docs claim, one module each. `make bench` runs them all and writes the tables."""
