"""A row of a table keeps its words together: each is asked in the HTML that page and build write."""

import json
import re

from rlpt.planning import planner
from tests.widgets.catalogue import results
from widgets.frame.drawing import answer_table
from widgets.frame.reader import host
from widgets.plan import widget as plan

ROW = re.compile(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>')


def rows(html):
    return {name: re.findall(r"<td>(.*?)</td>", cells) for name, cells in ROW.findall(html)}


def test_each_row_is_headed_by_its_own_name_and_what_is_written_is_escaped():
    cells = [("a < b", "1", "20"), ("each alone",), ("c", (0.25, 0.5), "22a")]
    html = answer_table.drawn(answer_table.table("Answers", "", ("", "answer", "lesson"), cells))
    assert rows(html) == {"a &lt; b": ["1", "20"], "c": ['<i style="--from:25.0%;--to:50.0%"></i>', "22a"]}
    first, second = html.split("<tbody>")[1:]
    assert "each alone" in second and 'colspan="3"' in second and "each alone" not in first
    assert html.count("<th ") == 2 + 3


def test_every_answer_of_a_plan_stands_in_the_row_of_its_question():
    for name in ("32B on 64 + 64 H100", "7B, ten turns with tools"):
        k = plan.PRESETS[name]
        r = results.last("plan", k)
        panels = {panel["title"]: host.shown(panel) for panel in plan.figure(k, r)}
        answers = rows(panels["The answers"]["svg"])
        wanted = {each.question: [each.words, each.lesson] for each in planner.answers(r.found)}
        assert answers == {question: wanted[question] for question in answers}, name
        assert set(wanted) - set(answers) <= set(plan.HIDDEN)
        changes = rows(panels["What would shorten the step"]["svg"])
        for change in r.alone:
            if change.words in changes:
                assert changes[change.words][0] == f"{change.seconds:,.0f}", name


def test_no_words_of_a_plan_s_tables_stand_at_places_of_a_plot():
    (frame,) = host.stream("plan", "{}")
    plots = [panel for panel in json.loads(frame)["panels"] if not panel["svg"]]
    assert [panel["title"] for panel in plots] == ["Step time by number of GPUs", "Memory of one GPU"]
    assert all(panel["layout"]["xaxis"]["visible"] for panel in plots)
