from dataclasses import astuple

import numpy as np
import pytest

from sim.algorithms import dapo, grpo, ppo, reinforce
from sim.experiments.standard_runs import add_run, lookup_run, modsum_run
from sim.framework import checkpoint
from sim.framework.weight_sync import WeightSync
from sim.worlds.optimizer import SGD, AdamW

CONFIGURATION = dict(algorithm="grpo", K=8)
RUNS = {
    "four passes, AdamW, a reference": lambda: add_run(grpo),
    "a critic with an optimizer of its own": lambda: add_run(ppo),
    "weights on their way": lambda: add_run(grpo, sync=WeightSync(lag=3)),
    "SGD, mini-batches in random order, micro-batches": lambda: add_run(
        grpo, optimizer=SGD(0.3, clip=1.0), minibatches=4, microbatches=2
    ),
    "groups drawn again": lambda: modsum_run(dapo, optimizer=AdamW(0.02)),
    "a table of values": lambda: modsum_run(ppo, sync=WeightSync(every=2, lag=1)),
    "an environment that draws": lambda: lookup_run(reinforce),
}


def trained(controller, updates, first=0):
    """The Frames as plain tuples, to be compared to the last bit."""
    events = [event for event in controller.iterate(updates, first) if event.stage == 7]
    return [
        [value.tolist() if isinstance(value, np.ndarray) else value for value in astuple(event.summary["frame"])[:-1]]
        for event in events
    ]


@pytest.mark.parametrize("made", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("update", [0, 1, 5])
def test_a_run_that_goes_on_is_the_run_that_was_never_left_to_the_last_bit(made, update):
    whole, left, resumed = made(), made(), made()
    frames = trained(whole, 7)
    before = trained(left, update)
    data = checkpoint.packed(checkpoint.state(left), CONFIGURATION)
    checkpoint.restore(resumed, checkpoint.unpacked(data, CONFIGURATION))
    after = trained(resumed, 7, first=update)
    assert repr(before + after) == repr(frames)  # NaN is no number, and its own text
    ends = [checkpoint.packed(checkpoint.state(run), CONFIGURATION) for run in (whole, resumed)]
    assert ends[0] == ends[1]


def test_what_was_packed_comes_back_whole():
    tree = dict(
        numbers=[1, 2**127, 0.1, None, "text"],
        nested=[dict(weights=np.array([0.1, -0.0, np.inf]))],
        empty=np.zeros((0, 3)),
        whole=np.arange(3),
    )
    found = checkpoint.unpacked(checkpoint.packed(tree, {}), {})
    assert found["numbers"] == tree["numbers"]
    assert found["nested"][0]["weights"].tobytes() == tree["nested"][0]["weights"].tobytes()
    assert found["empty"].shape == (0, 3) and found["whole"].dtype == tree["whole"].dtype


DATA = checkpoint.packed(dict(weights=np.arange(50.0)), CONFIGURATION)


@pytest.mark.parametrize("length", [0, 1, 30, 60, 95, 96, 200, len(DATA) // 2, len(DATA) - 1])
def test_a_checkpoint_that_is_cut_off_anywhere_is_refused(length):
    with pytest.raises(checkpoint.Refused, match=r"cut off or damaged|not a checkpoint of this program"):
        checkpoint.unpacked(DATA[:length], CONFIGURATION)


def test_a_changed_byte_or_another_file_is_refused():
    with pytest.raises(checkpoint.Refused, match="cut off or damaged"):
        checkpoint.unpacked(DATA[:-9] + bytes([DATA[-9] ^ 1]) + DATA[-8:], CONFIGURATION)
    with pytest.raises(checkpoint.Refused, match="not a checkpoint of this program"):
        checkpoint.unpacked(b"PK\x03\x04", CONFIGURATION)
    forged = checkpoint.KIND + checkpoint.digest(b"no archive") + b"\nno archive"
    with pytest.raises(checkpoint.Refused, match="not a checkpoint of this program"):
        checkpoint.unpacked(forged, CONFIGURATION)


def test_another_configuration_is_told_apart_in_one_sentence():
    with pytest.raises(checkpoint.Refused, match=r"^it is from a run with K 8, but this run has K 4$"):
        checkpoint.unpacked(DATA, dict(algorithm="grpo", K=4))
    with pytest.raises(checkpoint.Refused, match=r"with lag not set, but this run has lag 2$"):
        checkpoint.unpacked(DATA, CONFIGURATION | dict(lag=2))


def test_a_fingerprint_tells_weights_apart_by_their_last_bit_and_their_names():
    one, other = np.ones(3), np.array([1, 1, 1 + 2**-52])
    prints = [checkpoint.fingerprint(params) for params in (dict(w=one), dict(w=other), dict(b=one), dict(w=one))]
    assert len(set(prints)) == 3 and prints[0] == prints[3]
