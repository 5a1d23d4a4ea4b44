"""`python -m sim.framework`: one iteration of PPO on MODSUM, its seven stages and the shapes they hand on. PPO: arXiv:1707.06347."""
import numpy as np

from sim.algorithms import ppo
from sim.runs import modsum_run


def shown(value):
    if hasattr(value, "__dataclass_fields__"):
        return ", ".join(f"{name} {shown(getattr(value, name))}" for name in value.__dataclass_fields__ if getattr(value, name) is not None)
    if isinstance(value, np.ndarray):
        return f"{value.shape}"
    if isinstance(value, list | dict):
        return f"{len(value)} entries"
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"


if __name__ == "__main__":
    for event in modsum_run(ppo).iterate(1):
        print(f"{event.stage} {event.role:11}", " · ".join(f"{name}: {shown(value)}" for name, value in event.summary.items()))
