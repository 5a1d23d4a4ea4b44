"""Base, SFT, thoughts, preferences, verifiable rewards: the stages of post-training on one tiny model."""
