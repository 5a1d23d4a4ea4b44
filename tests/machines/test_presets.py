"""What the foot of a figure promises: a preset reads the same on every machine, or says by how much it does not."""

import pytest

from tests.machines import last_bit
from tests.widgets.catalogue import NAMES, frame_of, near, where_changed
from tools.pages import frames
from widgets.frame.contract.widget import extras
from widgets.frame.reader import host

PRESETS = [
    pytest.param(name, preset, marks=where_changed(name)) for name in NAMES for preset in host.widget(name).PRESETS
]


@pytest.mark.parametrize("name, preset", PRESETS)
def test_a_preset_changes_with_the_last_bit_if_and_only_if_its_widget_declares_it(name, preset):
    knobs = host.widget(name).PRESETS[preset]
    here = frame_of(name, knobs)
    with last_bit.moved():
        there = frames.settled(name, knobs)
    shown = [r["text"] for r in there["readouts"]]
    assert near(name, preset, shown, here["readouts"]), (shown, here["readouts"])
    assert there["verdict"]["state"] == here["verdict"]["state"]
    same = there["hash"] == here["hash"]
    assert same or host.amplified(name, preset), "it is drawn otherwise: AMPLIFIES of the widget must say by how much"
    assert not (same and host.amplified(name, preset)), "the last bit does not move it: it is not for AMPLIFIES"


def test_every_amplifies_entry_names_a_preset_and_a_readout_of_its_widget():
    unknown = [
        f"widgets/{name}.py: AMPLIFIES of {preset!r} names {sorted(moves) or 'nothing'}, the readouts {sorted(labels)}"
        for name in NAMES
        for preset, moves in extras(host.widget(name)).AMPLIFIES.items()
        for labels in [{r["label"] for r in frame_of(name, host.widget(name).PRESETS[preset])["readouts"]}]
        if not moves or not moves.keys() <= labels
    ]
    assert not unknown, "\n".join(unknown)
