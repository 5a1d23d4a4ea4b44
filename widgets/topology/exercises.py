"""The seconds of training to be changed, and loops to be cut so that nobody waits for long."""

from dataclasses import replace

import numpy as np

from sim.cluster import topology
from sim.cluster.topology import ASYNC, CARRY, ONE_OFF
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.topology.widget import Knobs, rate


class Small:
    """A job with a model of 100 weights, on chips of 1,000 FLOP/s of which half are reached."""

    completions, prompts, prompt, mfu = 2, 1, 10, 0.5
    model = accelerator = property(lambda self: self)

    def active_params(self):
        return 100

    def flops(self):
        return 1000

    def __repr__(self):
        return "100 weights and 2 completions of one prompt of 10 tokens"


CALLS = ((Small(), np.array([[30.0, 10.0]]), 2), (Small(), np.array([[5.0, 80.0]]), 4))
PASSES = "    return 10 * job.model.active_params()"
TOKENS = "    tokens = lengths.sum() + job.completions * job.prompt"


def seconds(flops, tokens, job, gpus):
    return flops * 100 * tokens / (1000 * 0.5) / gpus


CHANGE = Change(
    (topology.train_seconds,),
    "the seconds of training",
    (
        Exercise(
            "No KL is charged, and log-probs that the engine has recorded serve as old ones. "
            "Leave out both passes that only ask for log-probs.",
            CALLS,
            lambda job, lengths, gpus: seconds(6, lengths.sum() + 20, job, gpus),
            (
                "Forward costs 2 FLOP a weight and token, backward 4. A pass for log-probs is a forward.",
                "Of 2 + 2 + 6 the 6 is left.",
            ),
            (PASSES, PASSES.replace("10", "6")),
        ),
        Exercise(
            "Take a prompt through the model once for all completions of it, not once for each.",
            CALLS,
            lambda job, lengths, gpus: seconds(10, lengths.sum() + 10, job, gpus),
            (
                "Only the tokens change: those of the completions stay, those of the prompts become fewer.",
                "job.prompts counts the prompts of a step, job.completions the completions.",
            ),
            (TOKENS, TOKENS.replace("job.completions", "job.prompts")),
        ),
    ),
)


def opens(k, **free):
    """Whether nothing but these knobs differs from the default."""
    return k == replace(Knobs(), **free)


def reached(k, r, tokens_per_second):
    return bool(not r.misfits and rate(r, k) >= tokens_per_second)


CHALLENGES = (
    Challenge(
        "By the cut and the size of engines alone, else as the page opens: 95,000 tokens a second, one step off.",
        lambda k, r: (
            opens(k, way=ONE_OFF, generating=k.generating, tensor_parallel=k.tensor_parallel) and reached(k, r, 95_000)
        ),
        Knobs(way=ONE_OFF, generating=12, tensor_parallel=4),
    ),
    Challenge(
        "The job as the page opens, 32 GPUs: 110,000 tokens a second with the trainer at most 1 version ahead.",
        lambda k, r: (
            opens(k, way=k.way, generating=k.generating, tensor_parallel=k.tensor_parallel, sync=k.sync)
            and reached(k, r, 110_000)
            and bool(r.runs[k.way].lag <= 1)
        ),
        Knobs(way=CARRY, tensor_parallel=4),
    ),
    Challenge(
        "The job as the page opens, but with llama3.1-70b on 128 GPUs: 55,000 tokens a second.",
        lambda k, r: (
            opens(
                k,
                model="llama3.1-70b",
                gpus=128,
                way=k.way,
                generating=k.generating,
                tensor_parallel=k.tensor_parallel,
                sync=k.sync,
            )
            and reached(k, r, 55_000)
        ),
        Knobs(model="llama3.1-70b", gpus=128, way=ASYNC, generating=26, tensor_parallel=8),
    ),
)
