"""The trainer's bytes to be changed, and jobs to be fitted by what can be divided and what cannot."""

from dataclasses import dataclass

from sim.cluster import memory
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import LEDGERS
from sim.cluster.models import MODELS
from widgets.frame.contract import machine_knobs
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.memory.widget import Knobs, length


@dataclass(frozen=True, repr=False)
class Small:
    """A model that is small enough to be counted by hand."""

    weights: int = 1
    layers: int = 1
    hidden: int = 1
    heads: int = 1

    def params(self):
        return self.weights

    def __repr__(self):
        return f"{self.layers} layers of width {self.hidden}" if self.layers > 1 else f"{self.weights:,} weights"


ONE = Small(weights=8)
TWO_LAYERS, WIDE = Small(layers=2, hidden=1), Small(layers=4, hidden=8, heads=2)
SUM = "    kept = sum(layer_activations(model, length, recompute).values())"


def kept_without_mlp(model, tokens, length, recompute, tensor_parallel=1):
    """Selective: 15 of a layer's 34 bytes stay, and one layer's 19 come back."""
    assert recompute == "selective"
    return tokens * model.hidden * (15 * model.layers + 19) / tensor_parallel


CHANGE = Change(
    (memory.state_bytes, memory.activation_bytes),
    "the trainer’s bytes on a GPU",
    (
        Exercise(
            "Keep a moving average of the weights as well. It takes four more bytes per weight, divided among the "
            "GPUs from ZeRO stage 1 on, like the optimizer.",
            ((ONE, 8), (ONE, 8, 2), (ONE, 8, 0, LEDGERS["2 + 4 + 12"]), (Small(weights=1000), 16, 1)),
            lambda model, gpus, zero=3, ledger=LEDGERS["2 + 2 + 12"]: (
                model.params()
                * sum(size / (gpus if zero >= stage else 1) for size, stage in zip((*ledger, 4), (3, 2, 1, 1)))
            ),
            (
                "The average is divided exactly like the optimizer, as if the optimizer had 16 bytes.",
                "Instead of ledger: (ledger.weights, ledger.gradients, ledger.optimizer + 4).",
            ),
            (
                "    parts = zip(ledger, (zero >= 3, zero >= 2, zero >= 1))",
                "    parts = zip((*ledger, 4), (zero >= 3, zero >= 2, zero >= 1, zero >= 1))",
            ),
        ),
        Exercise(
            "Let selective recomputation drop the MLP’s 19 bytes too. While the backward pass is in a layer, that "
            "layer has its 19 bytes again.",
            ((TWO_LAYERS, 1, 1, "selective"), (WIDE, 64, 32, "selective"), (WIDE, 64, 32, "selective", 2)),
            kept_without_mlp,
            (
                "Full recomputation does the same with more bytes: it keeps 2 in every layer, and 34 in one.",
                'Take 19 off `kept` if recompute == "selective", and add 19 / t · unit to what is then returned.',
            ),
            (SUM, '    if recompute == "selective":\n        return (15 * model.layers + 19) / t * unit\n' + SUM),
            memory.activation_bytes,
        ),
    ),
)


def trained(k, r, model, gpus):
    """Whether this model is trained whole by GRPO on so many H100, and fits."""
    return (
        not r.misfits
        and machine_knobs.model(k) == MODELS[model]
        and machine_knobs.accelerator(k) == ACCELERATORS["h100"]
        and k.gpus == gpus
        and k.algorithm == "GRPO"
    )


CHALLENGES = (
    Challenge(
        "Fit Llama-3.1-70B by GRPO on 16 H100, with sequences of at least 8,192 tokens.",
        lambda k, r: trained(k, r, "llama3.1-70b", 16) and length(k) >= 8192,
        Knobs(model="llama3.1-70b", gpus=16, recompute="full", ledger="2 + 2 + 6"),
    ),
    Challenge(
        "Fit Llama-3.1-8B by GRPO on 8 H100 if the state stays there and the engine may fill 0.78 of the memory.",
        lambda k, r: trained(k, r, "llama3.1-8b", 8) and k.placement == "in turn, state stays" and k.hbm_share >= 0.779,
        Knobs(placement="in turn, state stays", hbm_share=0.78, ledger="2 + 2 + 6", reference="offloaded"),
    ),
    Challenge(
        "Train Llama-3.1-8B by GRPO on 8 H100 with sequences of at least 65,536 tokens and no moment above 40 GB.",
        lambda k, r: trained(k, r, "llama3.1-8b", 8) and length(k) >= 65536 and r.peak.needs <= 40e9,
        Knobs(longest=65024, recompute="full", train_tp=4),
    ),
)
