"""The drawing of which algorithm is a patch on which."""

import re

import pytest

from tools.pages import lessons, lineage

DRAWINGS = re.findall(r"<svg.*?</svg>", lineage.figure())


def test_the_counts_are_those_of_the_files():
    counts = {
        ends: lineage.counted(*ends) for ends in lineage.EDGES
    }  # counted on the table of the algorithms' functions
    assert counts == {
        ("REINFORCE", "PPO"): "−4 +7",
        ("PPO", "GRPO"): "−5 +7",
        ("REINFORCE", "RLOO"): "−2 +2",
        ("GRPO", "RLOO"): "−10 +5",
        ("GRPO", "DAPO"): "−7 +6",
        ("GRPO", "Dr.GRPO"): "−5 +3",
    }


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_every_algorithm_is_a_box_and_every_arrow_says_its_change_and_its_lines(drawing):
    assert re.findall(r'<text class="t"[^>]*>([^<]+)', drawing) == list(lineage.NODES)
    assert len(re.findall(r'class="edge"', drawing)) == (6 if "broad" in drawing else 5)
    assert len(re.findall(r"−\d+ \+\d+<", drawing)) == 6


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_only_finished_lessons_are_linked(drawing):
    there = {page.stem for page in lessons.finished()}
    linked = re.findall(r'href="/([\w-]+)/', drawing)
    assert linked and set(linked) <= there
    for name, (_, number) in lineage.NODES.items():
        assert (f'aria-label="{name}, lesson {number}"' in drawing) == any(
            stem.startswith(f"{number}-") for stem in there
        )
