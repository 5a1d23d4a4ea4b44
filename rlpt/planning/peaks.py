"""Peaks of one GPU's memory that others have measured while training adapters, beside what the plan counts. Data, and a
sum of sim/cluster/memory.py; nothing is fitted to it.

Every row of the sources that says model, rank, tokens, recomputation and precision. GB is 1e9 bytes; sources that print
GiB or MiB are converted.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.cluster import memory
from sim.cluster.memory import Training
from sim.cluster.models import MODELS, Model

LLAMA2, LLAMA3 = MODELS["llama2-7b"], MODELS["llama3.1-8b"]
# Qwen/Qwen-7B, config.json (2023): an MLP of half its "intermediate_size" of 22,016
QWEN = replace(LLAMA2, key="qwen-7b", name="Qwen-7B", vocab=151936, qkv_bias=True)
GIB = 2**30 / 1e9


@dataclass(frozen=True)
class Peak:
    source: str  # a key of SOURCES
    model: Model
    rank: int
    four_bits: bool
    sequences: int
    length: int
    published: float  # GB
    recompute: str = "full"
    logits_chunk: int | None = None

    @property
    def predicted(self) -> float:
        """GB of weights, adapters with their gradients and Adam, activations and logits."""
        training = Training(
            1,
            ledger=memory.FSDP,
            adapters=self.rank,
            four_bits=self.four_bits,
            tokens=self.sequences * self.length,
            length=self.length,
            recompute=self.recompute,
            logits_chunk=self.logits_chunk,
        )
        return sum(memory.training_bytes(self.model, training).values()) / 1e9

    @property
    def ratio(self) -> float:
        """Published over predicted bytes."""
        return self.published / self.predicted


SOURCES = {
    "Qwen": (
        "Qwen, fine-tuning, one A100, 2023",
        "https://github.com/QwenLM/Qwen/blob/2df8e8ac450fa185c421a08b0090ef81826caa6e/README.md",
    ),
    "torchtune": (
        "torchtune, LoRA and QLoRA on one 4090, 2025",
        "https://github.com/pytorch/torchtune/blob/bd2a0fc7c31430972728494fa01aaeeb0ebf1ba1/README.md",
    ),
    "LLaMA-Factory": (
        "LLaMA-Factory, performance comparison, one A100, 2024",
        "https://github.com/hiyouga/LLaMA-Factory/wiki/Performance-comparison",
    ),
    "LitGPT": (
        "LitGPT, resource tables, one A100, 2023",
        "https://github.com/Lightning-AI/litgpt/blob/26857050fe3ff627cd714fe92f5838f51a3d5efa/tutorials/resource-tables.md",
    ),
    "fsdp_qlora": (
        "Answer.AI, FSDP and QLoRA, 2024",
        "https://github.com/AnswerDotAI/fsdp_qlora/blob/05ed9f2a60f96a0795cb082bceab70a9b19fd213/benchmarks_03_2024.md",
    ),
}
KILO = 1024
PEAKS = [
    *(
        Peak("Qwen", QWEN, 64, False, 1, length, gb)
        for length, gb in ((256, 20.1), (512, 20.4), (1024, 21.5), (2048, 23.8), (4096, 29.7), (8192, 36.6))
    ),
    Peak("torchtune", LLAMA3, 8, False, 2, 2048, 16.2 * GIB, logits_chunk=512),
    Peak("torchtune", LLAMA3, 8, True, 2, 2048, 7.4 * GIB, logits_chunk=512),
    *(
        Peak("LLaMA-Factory", LLAMA2, 8, True, 1, n * KILO, gb)
        for n, gb in ((1, 6.0), (2, 7.0), (4, 9.0), (8, 12.0), (16, 19.0), (32, 32.0))
    ),
    *(Peak("LitGPT", LLAMA2, 8, False, n, 1304, gb, "selective") for n, gb in ((1, 21.3), (2, 29.07))),
    Peak("LitGPT", LLAMA2, 8, True, 1, 1304, 13.84, "selective"),
    # of two GPUs with a whole copy each; the rank is the default of its script
    Peak("fsdp_qlora", LLAMA2, 64, True, 8, 2048, 20.94 * GIB),
    Peak("fsdp_qlora", LLAMA2, 64, False, 4, 2048, 22.04 * GIB),
]


def spread() -> tuple[float, float]:
    """(geometric mean of the ratios, one standard deviation of their logarithms as a factor)."""
    logs = np.log([peak.ratio for peak in PEAKS])
    return float(np.exp(logs.mean())), float(np.exp(logs.std()))


def table() -> str:
    """All peaks as lines of a Markdown table: job, published GB, counted GB, ratio."""
    lines = []
    for peak in PEAKS:
        kind = "QLoRA" if peak.four_bits else "LoRA"
        job = f"{peak.source}, {peak.model.name}, {kind} {peak.rank}, {peak.sequences} × {peak.length:,} tokens"
        lines.append(f"|{job}|{peak.published:.1f}|{peak.predicted:.1f}|{peak.ratio:.2f}|")
    return "\n".join(lines)
