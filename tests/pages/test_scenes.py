"""Scenes as they stand in a page."""

import re

import pytest

from tests.widgets.frame.drawing.test_vocabulary import SCENES
from tools.pages import fences, scenes


@pytest.mark.parametrize("module, name", SCENES)
def test_a_scene_stands_in_the_page_whole_and_small(module, name):
    figure = scenes.figure(module, name)  # beyond 100 positions or 12 kB it raises
    page = fences.part("scene", **figure, opening=None)
    scene, stills = page.split('<div class="k-stills">') if figure["stills"] else (page, "")
    assert f'data-scene="{module}.{name}"' in scene
    assert scene.count("data-play") == (figure["time"] is not None and not figure["over"])
    assert scene.count('type="range"') == (figure["time"] is not None)
    assert "data-k=" not in stills.split("<template>")[0]
    for svg in re.findall(r"<svg[^>]*class=\"k-view[^>]*>", page):
        assert re.search(r'role="img" aria-label="[^"]{10,}"', svg)


def test_a_scene_that_is_too_much_is_refused(monkeypatch):
    module, name = SCENES[0]
    monkeypatch.setattr(scenes, "PACKED", 100)
    with pytest.raises(ValueError, match="bytes packed; a scene has at most 100"):
        scenes.figure(module, name)
