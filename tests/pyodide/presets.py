"""Run inside Pyodide by test_same_numbers.py, which has written down what the presets read natively."""

import json
from pathlib import Path

import pytest

from tests.widgets.catalogue import NAMES, frame_of, near
from widgets.frame.reader import host

NATIVE = Path(__file__).parents[2] / "_cache" / "readouts"


@pytest.mark.parametrize("name", NAMES)
def test_every_preset_reads_as_it_does_natively(name):
    native = json.loads((NATIVE / f"{name}.json").read_text(encoding="utf-8"))
    for preset, knobs in host.widget(name).PRESETS.items():
        frame, there = frame_of(name, knobs), native[preset]
        shown = [r["text"] for r in frame["readouts"]]
        assert near(name, preset, shown, there["readouts"]), (preset, shown, there["readouts"])
        assert frame["verdict"]["state"] == there["state"]
        assert frame["hash"] == there["hash"] or host.amplified(name, preset), f"{preset} is drawn otherwise"
