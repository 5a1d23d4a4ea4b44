"""The small figures of lesson 22: sixteen bytes a weight, what a layer keeps, the moments of a step, and length."""

from sim.cluster import envelope, memory
from sim.cluster.envelope import Job
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.memory import Engine, Training
from sim.cluster.models import MODELS
from widgets.frame.drawing.marks import bars, cell, grid, label, line, panel, threshold
from widgets.frame.drawing.small_figures import Figure, Handle

LLAMA, H100, GPUS, LENGTH = MODELS["llama3.1-8b"], ACCELERATORS["h100"], 8, 8192
ROOM = (1 - memory.RESERVE) * H100.hbm_gb

# ── sixteen bytes a weight ──
PARTS = (("weight", "w", 2, 3), ("gradient", "g", 2, 2), ("fp32 copy", "c", 4, 1), ("mean", "m", 4, 1))
PARTS += (("square", "v", 4, 1),)  # name, letter, bytes, ZeRO stage that shards it


def sixteen(stage):
    """A square a byte: whole on every GPU, or the eighth that this one keeps."""
    rows = []
    for name, letter, size, sharded_at in PARTS:
        shared = stage >= sharded_at
        byte = cell(letter, "1/8" if shared else "all", 0.15 if shared else 1.0)
        gigabytes = size * LLAMA.params() / 1e9 / (GPUS if shared else 1)
        rows.append([name, [byte] * size, f"{gigabytes:.0f} GB" if gigabytes >= 10 else f"{gigabytes:.1f} GB"])
    return [grid(rows, "The bytes of one weight on one of eight GPUs", "on the right: for all weights of an 8B model")]


def kept_here(stage):
    size = memory.state_bytes(LLAMA, GPUS, stage) / 1e9
    divided = (
        "Nothing is divided",
        "The optimizer is divided",
        "Optimizer and gradients are divided",
        "Everything is divided",
    )[stage]
    return f"{divided}, which leaves {size:.0f} GB on each of {GPUS} GPUs."


# ── what a layer keeps ──
CALLED = dict(none="nothing is", selective="the scores are", full="the whole layer is")


def recompute(mode):
    """What one layer keeps of a token, and what all layers keep of a sequence."""
    whole = memory.layer_activations(LLAMA, LENGTH)
    kept = memory.layer_activations(LLAMA, LENGTH, mode)
    names = ["input", *whole]
    sizes = [kept.get(name, 0.0) for name in names]
    dropped = [whole.get(name, 0.0) - kept.get(name, 0.0) for name in names]
    total = {m: memory.activation_bytes(LLAMA, LENGTH, LENGTH, m) / 1e9 for m in CALLED}
    at = list(CALLED).index(mode)
    places = list(range(len(names)))
    return [
        panel(
            "What one layer keeps per token",
            "times the width of the model; empty: dropped",
            bars(places, sizes, "kept", 3),
            bars(places, [max(d, 0.0) for d in dropped], "dropped", 3, "free"),
            label(places[-1], 320, f"{whole['scores']:.0f}", 3, "center"),
            x_range=(-0.6, len(names) - 0.4),
            y_range=(0, 360),
            stacked=True,
            ticks=dict(tickvals=places, ticktext=["input", "norms", "attn", "MLP", "scores"], tickangle=0),
        ),
        panel(
            "What all layers keep per sequence",
            f"GB, {LENGTH:,} tokens; log scale",
            line([-0.6, 2.6], [H100.hbm_gb] * 2, "one GPU", 8, "reference"),
            *(bars([n], [size], m, 3, "" if n == at else "free") for n, (m, size) in enumerate(total.items())),
            *(label(n, size, f"{size:.3g}", 3, "center") for n, size in enumerate(total.values())),
            label(2.5, H100.hbm_gb, "one GPU", 8, "right"),
            x_range=(-0.6, 2.6),
            y_range=(0.1, 1500),
            log="y",
            ticks=dict(tickvals=[0, 1, 2], ticktext=["none", "scores", "layer"], tickangle=0),
        ),
    ]


def recomputed(mode):
    size = memory.activation_bytes(LLAMA, LENGTH, LENGTH, mode) / 1e9
    return f"If {CALLED[mode]} recomputed in the backward pass, a sequence takes up {size:.3g} GB."


# ── which moment is full ──
PLACES = (("in turn, resident", 0.9), ("in turn, resident", 0.5), ("in turn, offloaded", 0.9))
WORDS = ("state stays, engine 90 %", "state stays, engine 50 %", "state leaves, engine 90 %")
SERIES = dict(weights=6, cache=2, state=1, reference=5, activations=3, logits=4)


def one_job(place, share):
    training = Training(GPUS, reference=True, tokens=LENGTH, length=LENGTH, recompute="selective", logits_chunk=1024)
    return Job(GPUS, training, Engine(GPUS, 1, LENGTH, hbm_share=share), place)


def moments(at):
    """What the parts come to at each moment of a step."""
    by_moment = envelope.envelope(LLAMA, H100, one_job(*PLACES[at]))
    foot, marks = [0.0] * len(by_moment), []
    for name, series in SERIES.items():
        sizes = [parts.get(name, 0.0) / 1e9 for parts in by_moment.values()]
        marks.append(bars(list(range(len(by_moment))), sizes, name, series))
        tallest = max(range(len(sizes)), key=sizes.__getitem__)
        if sizes[tallest] > 9:
            marks.append(label(tallest, foot[tallest] + sizes[tallest] / 2 - 4, name, 0, "center"))
        foot = [low + size for low, size in zip(foot, sizes)]
    return [
        panel(
            "One GPU, moment by moment",
            f"GB of {H100.hbm_gb:.0f}; an 8B model on {GPUS}",
            *marks,
            threshold(ROOM, "no room", 100),
            x_range=(-0.6, 3.6),
            y_range=(0, 100),
            stacked=True,
            ticks=dict(tickvals=[0, 1, 2, 3], ticktext=["generate", "score", "update", "sync"], tickangle=0),
        )
    ]


def fullest(at):
    place, share = PLACES[at]
    room = memory.capacity(LLAMA, H100, Engine(hbm_share=share))
    by_moment = envelope.envelope(LLAMA, H100, one_job(place, share))
    size = envelope.total(by_moment["generate"]) / 1e9
    return f"While generating, a GPU needs {size:.0f} of its 80 GB, and its cache holds {room:,} tokens."


# ── what length does ──
LENGTHS = tuple(1024 * 2**n for n in range(8))


def longer(length):
    """State, activations and logits of one sequence, whole logits, everything else recomputed."""
    sizes = components(length)
    places = list(range(len(sizes)))
    return [
        panel(
            "Memory of an update on one of eight GPUs",
            "GB, full recomputation, all logits at once; log scale",
            line([-0.6, 2.6], [H100.hbm_gb] * 2, "one GPU", 8, "reference"),
            *(bars([n], [size], name, SERIES[name]) for n, (name, size) in enumerate(sizes.items())),
            *(label(n, size, f"{size:.3g}", SERIES[name], "center") for n, (name, size) in enumerate(sizes.items())),
            label(-0.5, H100.hbm_gb, "one GPU", 8),
            x_range=(-0.6, 2.6),
            y_range=(0.1, 1000),
            log="y",
            ticks=dict(tickvals=places, ticktext=list(sizes), tickangle=0),
        )
    ]


def components(length):
    training = Training(GPUS, reference=True, tokens=length, length=length, recompute="full")
    parts = memory.training_bytes(LLAMA, training)
    return {
        "state": (parts["state"] + parts["reference"]) / 1e9,
        "activations": parts["activations"] / 1e9,
        "logits": parts["logits"] / 1e9,
    }


def largest(length):
    sizes = components(length)
    most = max(sizes, key=sizes.get)
    return f"{length:,} tokens take {sum(sizes.values()):.0f} GB together. The largest part is the {most}."


FIGURES = {
    "sixteen": Figure(
        sixteen, memory.state_bytes, Handle("ZeRO stage", (0, 1, 2, 3), start=3, words=("0", "1", "2", "3")), kept_here
    ),
    "recompute": Figure(
        recompute,
        memory.layer_activations,
        Handle("What is computed again", tuple(CALLED), start=1, words=tuple(CALLED.values())),
        recomputed,
    ),
    "moments": Figure(
        moments, envelope.envelope, Handle("What stays on the GPU", (0, 1, 2), start=2, words=WORDS), fullest
    ),
    "longer": Figure(
        longer,
        memory.training_bytes,
        Handle("Tokens of a sequence", LENGTHS, start=3, words=tuple(f"{n:,}" for n in LENGTHS), symbol="S"),
        largest,
    ),
}
