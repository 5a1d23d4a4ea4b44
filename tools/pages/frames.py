"""What a widget shows at a setting when its run has ended."""

import json

from tools.pages import results
from widgets.frame import host


def settled(name, knobs=None):
    """The last frame of a run, at the default knobs or at those given."""
    module = host.widget(name)
    knobs = knobs or module.Knobs()
    return json.loads(host.frame(module, knobs, results.last(name, knobs)))
