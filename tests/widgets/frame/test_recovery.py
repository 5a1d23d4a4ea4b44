from widgets.frame.recovery import way_back, ways_back
from widgets.plan import widget as plan
from widgets.throughput.widget import Knobs


def test_the_nearest_value_of_the_first_knob_that_helps_is_named():
    assert way_back(Knobs(), ("gpus", "share"), lambda k: k.gpus >= 200) == "GPUs: 256."
    assert way_back(Knobs(), ("gpus", "longest"), lambda k: k.longest < 6000) == "Longest completion: 4,600 tokens."
    assert way_back(Knobs(), ("accelerator",), lambda k: k.accelerator == "b200") == "Accelerator: b200."
    assert way_back(Knobs(), ("share",), lambda k: k.share < 0.4) == ("Of them generating, when pools are split: 0.35.")


def test_a_knob_that_does_not_help_is_not_named():
    assert way_back(Knobs(), ("gpus", "share"), lambda k: False) is None
    assert way_back(Knobs(), ("gpus",), lambda k: k.gpus == 64) is None  # never the present value


def test_several_knobs_that_help_together_are_named_and_no_more_than_that():
    surely = dict(longest=8192, gpus=256, prompt=128)
    assert ways_back(Knobs(), surely, lambda k: k.gpus >= 200 and k.prompt < 512) == "GPUs: 256, Prompt: 128 tokens."
    assert ways_back(Knobs(), surely, lambda k: False) is None
    assert ways_back(Knobs(), dict(gpus=64), lambda k: True) is None  # the present value is no way back


def test_a_toggle_is_told_as_the_page_has_it():
    assert ways_back(plan.Knobs(reference=True), dict(reference=False), lambda k: not k.reference) == (
        "Reference model: off."
    )
