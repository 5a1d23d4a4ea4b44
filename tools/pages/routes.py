"""Ways through the book for those who do not read it in order: by question and by job, from lessons/data/routes.yml;
what a way needs before it comes from the lessons' own `needs`.
"""

from dataclasses import dataclass
from urllib.parse import urlencode

from tools.pages import lesson_data, lessons
from widgets.frame.reader import host

DATA, PLAN = "routes.yml", "27-gaps"  # the lesson whose widget plans on from here, for a job


@dataclass(frozen=True)
class Route:
    asks: str
    lessons: list  # stems, in the order they are read
    says: str = ""
    job: str = ""  # of the knob `work` of the lesson that plans on


def routes(section):
    """The Routes of one section; each names lessons that are in the navigation, in its order."""
    order = [lesson.stem for lesson in lessons.finished()]
    listed = [Route(**entry) for entry in lesson_data.read(DATA)[section]]
    for route in listed:
        if strange := [stem for stem in route.lessons if stem not in order]:
            raise ValueError(f"lessons/data/{DATA}, {route.asks}: there is no lesson {strange[0]}")
    return listed


def before(stems):
    """What has to be read before these lessons and is none of them, in reading order."""
    needed, open_ = set(), list(stems)
    while open_:
        front, _ = lessons.front_matter(f"{open_.pop()}.md")
        new = set(front.get("needs", [])) - needed
        needed |= new
        open_ += new
    return [lesson.stem for lesson in lessons.finished() if lesson.stem in needed - set(stems)]


def shown(section):
    """What the template shows of a section."""
    by_stem = {lesson.stem: lesson for lesson in lessons.finished()}
    return [
        dict(
            asks=route.asks,
            says=route.says,
            lessons=[by_stem[stem] for stem in route.lessons],
            before=[by_stem[stem] for stem in before(route.lessons)] if section != "whole" else [],
            minutes=sum(by_stem[stem].minutes for stem in [*before(route.lessons), *route.lessons]),
            plan=planned(by_stem[PLAN], route.job) if route.job else "",
        )
        for route in routes(section)
    ]


def planned(lesson, job):
    """The address of the lesson that plans on, with this job chosen."""
    knob = host.widget(lesson.widget).Knobs.__dataclass_fields__["work"]
    if job not in knob.metadata["options"]:
        raise ValueError(f"lessons/data/{DATA}: {job} is none of {', '.join(knob.metadata['options'])}")
    query = "" if job == knob.default else f"?{urlencode(dict(work=job))}"
    return f"/{lesson.url}{query}#{lesson.widget}"
