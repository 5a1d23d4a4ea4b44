"""What a widget shows at a setting when its run has ended."""

import json
from dataclasses import replace
from functools import cache

from tools.pages import results
from widgets.frame.contract.widget import extras, leading
from widgets.frame.reader import host


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


@cache
def in_reach(name):
    """The causes that the two knobs below the picture reach with all others at their defaults. Tried are the values
    that these two have in the presets and the opening.
    """
    module = host.widget(name)
    opening, lead = extras(module).OPENING, leading(module)
    settings = [*module.PRESETS.values(), *([opening.other] if opening else [])]
    tried = {replace(module.Knobs(), **{knob: getattr(k, knob) for knob in lead}) for k in settings}
    reached = {settled(name, k)["verdict"]["cause"] for k in tried}
    return tuple(cause for cause in causes(name) if cause in reached)
