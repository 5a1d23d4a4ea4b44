"""What is trained, and on what: policies, tasks, the verifier and optimizers."""
