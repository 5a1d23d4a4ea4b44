"""The bytes that an iteration reads to be changed, and sequences to be run that do not fit at first."""

import numpy as np

from sim.cluster import throughput
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.kv_cache.widget import WHOLE, Knobs, lost, runs


class Small:
    """A model of eight weights that keeps one number of each token."""

    def weight_bytes_read(self, tokens, weight_bytes=2):
        return 8.0 * weight_bytes

    def bytes_read(self, context, kv_bytes=2, tensor_parallel=1, context_parallel=1):
        return kv_bytes * context / tensor_parallel

    def __repr__(self):
        return "8 weights"


CALLS = ((Small(), 2.0, 6000.0, 2.0), (Small(), np.array([1.0, 4.0]), np.array([1000.0, 20_000.0]), 1.0))
MOST = 2048  # tokens that are read


def newest(model, sequences, kv_tokens, tokens):
    return 16.0 + 2 * np.minimum(kv_tokens, MOST * sequences)


def shared_prompt(model, sequences, kv_tokens, tokens):
    prompt, own = kv_tokens / 4, 3 * kv_tokens / 4
    return 16.0 + 2 * (own + prompt / 8)


CHANGE = Change(
    (throughput.bytes_read,),
    "the bytes that an iteration reads",
    (
        Exercise(
            "Let every sequence read at most 2,048 of its cached tokens, however long it is, as sparse attention does.",
            CALLS,
            newest,
            (
                "The weights stay. What a sequence reads is counted by its context, which gets an upper limit.",
                "np.minimum(…, 2048) around the context works for numbers and for arrays.",
            ),
            (
                "    context = kv_tokens / np.maximum(sequences, 1e-9)",
                "    context = np.minimum(kv_tokens / np.maximum(sequences, 1e-9), 2048)",
            ),
        ),
        Exercise(
            "A quarter of every context is a prompt that eight sequences share. Read it once for all eight, as cascade "
            "attention does.",
            CALLS,
            shared_prompt,
            (
                "Three quarters are read as before, and the shared quarter by one sequence in eight.",
                "The cache that is read becomes 0.75 + 0.25 / 8 of what it was.",
            ),
            (
                "    cache = sequences * model.bytes_read(context, kv_bytes, tensor_parallel, context_parallel)",
                "    cache = sequences * model.bytes_read(context, kv_bytes, tensor_parallel, context_parallel)\n"
                "    cache = cache * (0.75 + 0.25 / 8)",
            ),
        ),
    ),
)


def unchanged(k, *names):
    return all(getattr(k, name) == getattr(Knobs(), name) for name in names)


def as_shipped(k):
    """Whether model, chip and context are those of the default, on one GPU."""
    same = unchanged(k, "model", "accelerator", "config", "chip", "tensor_parallel", "attention")
    return same and k.context == 4096


CHALLENGES = (
    Challenge(
        "With model, keys and values unchanged, run 256 sequences of 4,096 tokens at once on one H100.",
        lambda k, r: bool(as_shipped(k) and k.kv_precision == "bf16" and not r.misfits and runs(k, r) >= 256),
        Knobs(batch=256, sharing=True, prompt_share=0.75),
    ),
    Challenge(
        "Same model and chip: reserve max length for 64 sequences of 4,096 tokens, and lose at most 10 % of speed.",
        lambda k, r: bool(
            as_shipped(k)
            and unchanged(k, "bandwidth", "flops", "overhead", "timed")
            and k.block == WHOLE
            and k.batch == 64
            and not r.misfits
            and lost(k, r) <= 0.1
        ),
        Knobs(block=WHOLE, kv_precision="fp8", weights="fp8", hbm_share=0.98),
    ),
)
