"""Training runs that a single lesson needs, built on the loop of sim/framework."""
