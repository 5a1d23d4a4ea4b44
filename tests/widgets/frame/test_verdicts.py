"""No run that a reader sees is dead, or clearly behind the default, is said to hold."""

import pytest

from tests.widgets.catalogue import frame_of
from widgets.frame.reader import host

# found by a first reader, each of whom was told that it held
DEAD = [
    ("orientation", dict(cut="weight sync")),  # the batches stay where they began
    ("rollout", dict(temperature=0.05)),  # 0.329 right at the start, 0.109 at the end
    ("grpo", dict(K=64)),  # 0.796 against 0.978
    ("ppo", dict(passes=1, learning_rate=1.0)),
    ("kv_cache", dict(batch=256)),
]


@pytest.mark.parametrize("name, knobs", DEAD, ids=lambda part: str(part))
def test_a_run_that_is_visibly_worse_is_not_said_to_hold(name, knobs):
    verdict = frame_of(name, host.widget(name).Knobs(**knobs))["verdict"]
    assert verdict["state"] != "holds", verdict["sentence"]


@pytest.mark.parametrize("name", sorted({name for name, _ in DEAD}))
def test_the_default_setting_of_every_widget_holds(name):
    assert frame_of(name, host.widget(name).Knobs())["verdict"]["state"] == "holds"
