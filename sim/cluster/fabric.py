"""What moves between pools of GPUs, in seconds.

Closed form: bytes over bandwidth, as in lesson 6; gathering, casting and loading are in the bandwidth that is assumed.
"""

from sim.cluster.models import Model

SYNC_BYTES_PER_SECOND = 25e9  # assumed: one weight transfer, casts and barriers included


def weight_sync(model: Model, bytes_per_second: float = SYNC_BYTES_PER_SECOND, weight_bytes: float = 2) -> float:
    """Seconds to send all weights to the engines: those that are looked up and the experts nobody visited, too."""
    return model.params() * weight_bytes / bytes_per_second
