"""The ways through the book on the front page."""

import pytest

from tools.pages import lesson_data, lessons, routes

SECTIONS = ("whole", "questions", "jobs")
ORDER = [lesson.stem for lesson in lessons.finished()]


def test_the_file_of_reading_routes_has_only_the_expected_sections():
    assert tuple(lesson_data.read(routes.DATA)) == SECTIONS


@pytest.mark.parametrize("section", SECTIONS)
def test_every_reading_route_leads_to_finished_lessons_and_has_its_own_question(section):
    listed = routes.shown(section)
    assert len({route["asks"] for route in listed}) == len(listed) > 1
    assert all(route["lessons"] for route in listed)


def test_all_prerequisites_of_a_reading_route_stand_before_it():
    needs = {stem: lessons.front_matter(f"{stem}.md")[0].get("needs", []) for stem in ORDER}
    for route in [*routes.shown("questions"), *routes.shown("jobs")]:
        read = [lesson.stem for lesson in (*route["before"], *route["lessons"])]
        assert len(set(read)) == len(read)
        assert all(need in read for stem in read for need in needs[stem]), route["asks"]
        assert route["minutes"] == sum(lesson.minutes for lesson in lessons.finished() if lesson.stem in read)


def test_the_dpo_route_needs_the_same_lessons_as_the_rlhf_route():
    assert routes.before(["16-dpo", "15-rlhf"]) == routes.before(["15-rlhf"])
    assert "15-rlhf" in routes.before(["16-dpo"]) and routes.before(["00-orientation"]) == []


def test_every_job_of_the_reading_plan_has_a_route_that_opens_the_plan_for_the_job():
    plans = [route["plan"] for route in routes.shown("jobs")]
    assert plans[0] == "/27-gaps/#gaps" and "/27-gaps/?work=agents#gaps" in plans
    assert len(set(plans)) == len(plans) == 5


def test_a_reading_route_to_a_lesson_that_does_not_exist_stops_the_build(monkeypatch):
    monkeypatch.setattr(lesson_data, "read", lambda name: {"jobs": [dict(asks="All of it", lessons=["99-all"])]})
    with pytest.raises(ValueError, match=r"lessons/data/routes.yml, All of it: there is no lesson 99-all"):
        routes.routes("jobs")
