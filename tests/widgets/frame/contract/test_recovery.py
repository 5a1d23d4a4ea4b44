from widgets.frame.contract.recovery import fewest, first_of, in_words, one_knob
from widgets.frame.reader import host
from widgets.plan import widget as plan
from widgets.throughput.widget import Knobs


def test_the_nearest_value_of_the_first_knob_that_helps_is_named():
    assert one_knob(Knobs(), ("gpus", "share"), lambda k: k.gpus >= 200) == dict(gpus=256)
    assert one_knob(Knobs(), ("gpus", "longest"), lambda k: k.longest < 6000) == dict(longest=4600)
    assert one_knob(Knobs(), ("accelerator",), lambda k: k.accelerator == "b200") == dict(accelerator="b200")
    assert one_knob(Knobs(), ("share",), lambda k: k.share < 0.4) == dict(share=0.35)


def test_a_knob_that_does_not_help_is_not_named():
    assert one_knob(Knobs(), ("gpus", "share"), lambda k: False) is None
    assert one_knob(Knobs(), ("gpus",), lambda k: k.gpus == 64) is None  # never the present value


def test_the_first_change_that_helps_is_named_without_what_is_set_already():
    changes = [dict(prompt=128), dict(gpus=64), dict(gpus=256, share=0.5), dict(gpus=512)]
    assert first_of(Knobs(), changes, lambda k: k.gpus >= 200) == dict(gpus=256)
    assert first_of(Knobs(), [dict(gpus=64)], lambda k: True) is None  # the present value is no way back


def test_several_knobs_that_help_together_are_named_and_no_more_than_that():
    surely = dict(longest=8192, gpus=256, prompt=128)
    assert fewest(Knobs(), surely, lambda k: k.gpus >= 200 and k.prompt < 512) == dict(gpus=256, prompt=128)
    assert fewest(Knobs(), surely, lambda k: False) is None
    assert fewest(Knobs(), dict(gpus=64), lambda k: True) is None  # the present value is no way back


def test_a_suggested_fix_is_worded_with_the_knob_labels_of_the_page():
    assert in_words(Knobs(), dict(gpus=256, longest=4600)) == "GPUs: 256, Longest completion: 4,600 tokens."
    assert in_words(Knobs(), dict(share=0.35)) == "Fraction of GPUs that generate: 0.35."
    assert in_words(plan.Knobs(), dict(reference=False)) == "Reference model: off."
    assert host.steps(Knobs(), dict(longest=4600)) == [
        dict(knob="longest", value="4600", words="Set Longest completion to 4,600 tokens")
    ]
