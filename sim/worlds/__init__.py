"""What is trained, and on what: policies, tasks, the verifier, optimizers."""
