"""What a sharded trainer sends to be changed, and steps to be found that wait for little."""

from dataclasses import replace

from sim.cluster import paths
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.paths.widget import SHORT, Knobs


class Small:
    """A model of so many weights."""

    def __init__(self, weights):
        self.weights = weights

    def params(self):
        return self.weights

    def __repr__(self):
        return f"a model of {self.weights:,} weights"


ONE, MANY = Small(1), Small(8_000_000)
CALLS = ((ONE, 2, 3), (ONE, 4, 1), (MANY, 64, 36, 2))
SENT = "    return (2 * 2 + grad_bytes) * model.params() * micro_steps * (gpus - 1) / gpus"


def ring(size, gpus):
    """What each of so many sends to gather or to scatter `size` bytes: all parts but its own, one after the other."""
    return sum(size / gpus for _ in range(gpus - 1))


CHANGE = Change(
    (paths.sharded_bytes,),
    "what a sharded trainer sends",
    (
        Exercise(
            "Let each GPU add up its gradients over all micro-steps, and scatter the sum once (FSDP’s no_sync).",
            CALLS,
            lambda model, gpus, micro_steps, grad_bytes=4: (
                sum(ring(2 * 2 * model.params(), gpus) for _ in range(micro_steps))
                + ring(grad_bytes * model.params(), gpus)
            ),
            (
                "The weights are gathered as often as before. Only the gradients no longer go with each micro-step.",
                "2 · 2 is multiplied by micro_steps, but grad_bytes is not.",
            ),
            (SENT, "    return (2 * 2 * micro_steps + grad_bytes) * model.params() * (gpus - 1) / gpus"),
        ),
        Exercise(
            "Turn it into ZeRO stage 1: weights and gradients stay whole on every GPU. Once per update, the sums of "
            "the gradients are scattered and the new weights are gathered.",
            CALLS,
            lambda model, gpus, micro_steps, grad_bytes=4: (
                ring(2 * model.params(), gpus) + ring(grad_bytes * model.params(), gpus)
            ),
            (
                "Nothing is sent in a micro-step, so micro_steps drops out.",
                "2 bytes per weight and g are sent once each: (2 + grad_bytes) instead of (2 * 2 + grad_bytes).",
            ),
            (SENT, "    return (2 + grad_bytes) * model.params() * (gpus - 1) / gpus"),
        ),
    ),
)

ONE_SENDER = Knobs(schedule=paths.FUNNEL, **SHORT)


def but_for(k, reference, *names):
    """Whether all knobs but these are as in the reference."""
    return replace(k, **{name: getattr(reference, name) for name in names}) == reference


CHALLENGES = (
    Challenge(
        "Reach 104 updates in 24 hours with all logits sent, on the default’s GPUs, engines, precision and batch.",
        lambda k, r: bool(
            k.payload == paths.FULL
            and but_for(
                k, Knobs(), "payload", "route", "schedule", "micro_batch", "way", "generating", "turns", "texts"
            )
            and not r.misfits
            and r.report.updates_a_day >= 104
        ),
        Knobs(payload=paths.FULL, way=paths.ASYNC),
    ),
    Challenge(
        "In the preset “70B, 512 short answers, one sender”, change only split and engines. Reach 1,350 updates a day.",
        lambda k, r: bool(
            but_for(k, ONE_SENDER, "generating", "tensor_parallel", "weights")
            and not r.misfits
            and r.report.updates_a_day >= 1350
        ),
        replace(ONE_SENDER, generating=32, tensor_parallel=8, weights="eight bits"),
    ),
)
