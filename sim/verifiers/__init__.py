"""Checks that reward what they can see, suites that test the checks, and what becomes of a policy that is trained on
them.
"""
