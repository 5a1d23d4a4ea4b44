"""What every drawn panel of a simulator promises: that the page can move it, read it out and ring its break."""

import html
import json
import re

from tests.widgets.catalogue import each_where_changed, frame_of, marks
from tools.pages import results
from widgets.frame.reader import host

KEYS = re.compile(r'data-k="([^"]+)"')
# a board whose axis of time is the setting's own: site/assets/scene.js draws it again
ANOTHER_AXIS = {"long_tail", "paths", "plan", "throughput", "verifier_pool"}
# a ring there stands around what was set, or what is not gained, too
RINGED_UNBROKEN = {"reward_scale", "throughput"}
# the verdict counts runs or seconds, and the ring names the answer, the prompt or the machine
SAYS_OTHERWISE = {"asynchrony", "ppo", "rollout", "throughput", "what_rl_adds"}


def drawn(frame):
    return [panel for panel in frame["panels"] if "k-views" in panel["svg"]]


@each_where_changed()
def test_a_drawing_has_a_sentence_for_who_does_not_see_it_and_numbers_for_its_table(name):
    frame = frame_of(name)
    table = host.table(name, json.dumps(frame))
    assert all(len(panel["alt"].split()) > 5 and "columns" not in panel for panel in drawn(frame))
    assert all(f"<td>{html.escape(panel['title'])}</td>" in table for panel in drawn(frame))


@each_where_changed()
def test_every_setting_has_the_same_keys_so_that_the_page_can_move_them(name):
    frames = [frame_of(name, k) for k in host.widget(name).PRESETS.values()]
    keys = {tuple(KEYS.findall("".join(panel["svg"] for panel in drawn(frame)))) for frame in frames if drawn(frame)}
    assert len(keys) <= 1 or name in ANOTHER_AXIS


@each_where_changed()
def test_a_ring_says_what_the_verdict_says_and_there_is_none_where_nothing_broke(name):
    w = host.widget(name)
    for k in w.PRESETS.values():
        r = results.last(name, k)
        break_ = w.broken(k, r)
        at = break_ and w.seen_at(k, r, break_.cause)
        for panel in w.figure(k, r):
            rings = [mark["words"] for mark in marks(panel, "ring") if mark["seen"]] if "columns" in panel else []
            if break_ is None and name not in RINGED_UNBROKEN:
                assert rings == []
            if at and at.panel == panel["title"] and "columns" in panel:
                assert rings == [at.words] or (name in SAYS_OTHERWISE and len(rings) == 1)
