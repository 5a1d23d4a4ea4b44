"""Checks that pay for what they can see, the suites that test them, and what a policy becomes that is paid by them."""
