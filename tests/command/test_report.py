"""The commands report and watch: what they write."""

from bamsoo import Study

from command_line import bamsoo_


def test_a_page_is_named_after_its_study_unless_a_name_is_given():
    with Study.open("run.db", space=[(0, 1)], algorithm="soo") as made:
        made.tell(made.ask(), 1.0)
    assert bamsoo_("report", "run.db").split() == ["run.html"]
    assert bamsoo_("report", "run.db", "--no-replay", "-o", "page.html").split() == ["page.html"]
