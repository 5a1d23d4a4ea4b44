"""What a widget shows at a setting when its run has ended."""

import json
from functools import cache

from tools.pages import results
from widgets.frame import host


def settled(name, knobs=None):
    """The last frame of a run, at the default knobs or at those given."""
    module = host.widget(name)
    knobs = knobs or module.Knobs()
    return json.loads(host.frame(module, knobs, results.last(name, knobs)))


@cache
def breaking(name):
    """The last frames of those presets of a widget that break."""
    frames = (settled(name, knobs) for knobs in host.widget(name).PRESETS.values())
    return tuple(frame for frame in frames if frame["verdict"]["state"] == "broken")


def causes(name):
    """The distinct causes for which the presets of a widget break, in their order."""
    return tuple(dict.fromkeys(frame["verdict"]["cause"] for frame in breaking(name)))
