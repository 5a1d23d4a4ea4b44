"""Seconds of one decode pass and of one update of a whole model with random weights, on the GPU at hand.

`python bench/whole_model.py decode llama3.1-8b 64 4096` passes one token of each of 64 sequences, with 4,096 tokens of
cache each, through all layers, the head and the sampler, as one CUDA graph, which is how engines run it.
`python bench/whole_model.py update qwen2.5-1.5b 8 1024` trains on 8 sequences of 1,024 tokens: forward and backward
through transformers' Llama, then AdamW on a float32 copy; with --recompute each layer runs forward twice, and with
--no-optimizer a model trains whose state would not fit. Each prints a row of JSON. Needs torch, and for an update
transformers. What the book's formulas say of the same work: tests/rlpt/planning/test_calibrated.py.
"""

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch

from rlpt.planning.layer_timing import timed
from sim.cluster.models import MODELS, Model

F = torch.nn.functional
BF16 = torch.bfloat16


def seconds(work: Callable[[], object]) -> tuple[float, int]:
    """(median seconds of the GPU, how often it was counted), with whatever the last run left in its caches."""

    def once() -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) / 1e3

    return timed(once)


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=BF16) * 0.02


class Decoder:
    """A dense model with keys and values by head, which passes one token of each sequence."""

    def __init__(self, model: Model, sequences: int, context: int) -> None:
        self.model, self.sequences = model, sequences
        wide = model.heads * model.head_dim
        both = 2 * model.kv_heads * model.head_dim
        cached = (sequences, model.kv_heads, context, model.head_dim)
        self.layers = [
            dict(
                qkv=random(wide + both, model.hidden),
                out=random(model.hidden, wide),
                up=random(2 * model.intermediate, model.hidden),
                down=random(model.hidden, model.intermediate),
                norm=random(2, model.hidden),
                key=random(*cached),
                value=random(*cached),
            )
            for _ in range(model.layers)
        ]
        self.table = random(model.vocab, model.hidden)
        self.head = self.table if model.tied else random(model.vocab, model.hidden)
        self.tokens = torch.zeros(sequences, dtype=torch.long, device="cuda")
        self.at = torch.full((1,), context - 1, dtype=torch.long, device="cuda")
        self.cos, self.sin = (torch.randn(model.head_dim, device="cuda").to(BF16) for _ in range(2))

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return x * self.cos + torch.cat((-second, first), -1) * self.sin

    def pass_once(self) -> None:
        m, n = self.model, self.sequences
        x = F.embedding(self.tokens, self.table)
        for w in self.layers:
            both = F.linear(F.rms_norm(x, (m.hidden,), w["norm"][0]), w["qkv"])
            query, key, value = both.split([m.heads * m.head_dim, *2 * [m.kv_heads * m.head_dim]], -1)
            # heads that share a key are rows of one product
            query = self.rotated(query.view(n, m.kv_heads, m.heads // m.kv_heads, m.head_dim))
            w["key"].index_copy_(2, self.at, self.rotated(key.view(n, m.kv_heads, 1, m.head_dim)))
            w["value"].index_copy_(2, self.at, value.view(n, m.kv_heads, 1, m.head_dim))
            mixed = F.scaled_dot_product_attention(query, w["key"], w["value"])
            x = x + F.linear(mixed.reshape(n, -1), w["out"])
            gate, linear = F.linear(F.rms_norm(x, (m.hidden,), w["norm"][1]), w["up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * linear, w["down"])
        weights = torch.softmax(F.linear(x, self.head).float(), -1)
        self.tokens.copy_((weights / torch.empty_like(weights).exponential_()).argmax(-1))  # a draw from them


def decode(model: Model, sequences: int, context: int) -> dict[str, Any]:
    """A pass as one graph, and launched operation by operation."""
    with torch.no_grad():
        decoder = Decoder(model, sequences, context)
        launched, _ = seconds(decoder.pass_once)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decoder.pass_once()
        replayed, repeats = seconds(graph.replay)
    return dict(seconds=replayed, repeats=repeats, launched=launched)


def update(
    model: Model, sequences: int, tokens: int, recompute: bool, optimizer: bool, fused: bool = False
) -> dict[str, Any]:
    """A pass forward and backward over one micro-batch, and the optimizer's step; with `fused` a norm is one kernel and
    keeps no float32.
    """
    from transformers import LlamaConfig, LlamaForCausalLM, __version__
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    if fused:
        LlamaRMSNorm.forward = lambda norm, x: F.rms_norm(x, x.shape[-1:], norm.weight, norm.variance_epsilon)

    config = LlamaConfig(
        hidden_size=model.hidden,
        intermediate_size=model.intermediate,
        num_hidden_layers=model.layers,
        num_attention_heads=model.heads,
        num_key_value_heads=model.kv_heads,
        head_dim=model.head_dim,
        vocab_size=model.vocab,
        tie_word_embeddings=model.tied,
        max_position_embeddings=tokens,
        attn_implementation="sdpa",
        use_cache=False,
    )
    with torch.device("cuda"):
        torch.set_default_dtype(BF16)
        network = LlamaForCausalLM(config).train()
        torch.set_default_dtype(torch.float32)
    if recompute:
        network.gradient_checkpointing_enable(dict(use_reentrant=False))
    drawn = torch.randint(model.vocab, (sequences, tokens), device="cuda")

    def both_ways() -> None:
        network.zero_grad(set_to_none=False)
        logits = network(drawn).logits[:, :-1].flatten(0, 1)
        F.cross_entropy(logits.float(), drawn[:, 1:].flatten()).backward()

    taken, repeats = seconds(both_ways)
    found: dict[str, Any] = dict(seconds=taken, repeats=repeats, transformers=__version__)
    if optimizer:
        copies = [p.detach().float().requires_grad_() for p in network.parameters()]
        adam = torch.optim.AdamW(copies, lr=1e-6, fused=True)
        weights = list(network.parameters())
        for copy in copies:
            copy.grad = torch.zeros_like(copy)

        def step() -> None:
            torch._foreach_copy_([copy.grad for copy in copies], [w.grad for w in weights])
            adam.step()
            with torch.no_grad():
                torch._foreach_copy_(weights, copies)

        found["optimizer"], _ = seconds(step)
        both_ways()  # the fullest moment: the optimizer's state is there by now
    return found | dict(params=sum(p.numel() for p in network.parameters()))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("what", choices=["decode", "update"])
    asked.add_argument("model", choices=[key for key, model in MODELS.items() if not (model.moe or model.mla)])
    asked.add_argument("sequences", type=int)
    asked.add_argument("tokens", type=int, help="of each sequence")
    asked.add_argument("--recompute", action="store_true")
    asked.add_argument("--no-optimizer", action="store_true")
    asked.add_argument("--fused-norms", action="store_true")
    wanted = asked.parse_args()
    model = MODELS[wanted.model]
    if wanted.what == "decode":
        found = decode(model, wanted.sequences, wanted.tokens)
    else:
        how = wanted.recompute, not wanted.no_optimizer, wanted.fused_norms
        found = update(model, wanted.sequences, wanted.tokens, *how)
    row = dict(
        what=wanted.what,
        model=wanted.model,
        sequences=wanted.sequences,
        tokens=wanted.tokens,
        recompute=wanted.recompute,
        fused_norms=wanted.fused_norms,
        **found,
        peak_bytes=torch.cuda.max_memory_allocated(),
        machine=torch.cuda.get_device_name(),
        torch=str(torch.__version__),
        date=datetime.now(UTC).date().isoformat(),
    )
    print(json.dumps(row))


if __name__ == "__main__":
    main()
