"""Trainings that one lesson needs, on the loop of sim/framework."""
