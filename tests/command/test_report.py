"""The commands report and watch: where they read a study from, and what they write."""

import sqlite3
from contextlib import closing

from bamsoo import Study
from bamsoo.command.report import source

from command_line import bamsoo_


def test_a_page_is_named_after_its_study_unless_a_name_is_given():
    with Study.open("run.db", space=[(0, 1)], algorithm="soo") as made:
        made.tell(made.ask(), 1.0)
    assert bamsoo_("report", "run.db").split() == ["run.html"]
    assert bamsoo_("report", "run.db", "--no-replay", "-o", "page.html").split() == ["page.html"]


def test_a_study_of_another_program_is_recognised_by_its_address_or_its_tables(here, monkeypatch):
    monkeypatch.setattr("bamsoo.command.report.OptunaSource", lambda *given: given)
    assert source("run.db", None) == "run.db"
    assert source("mysql://host/db", "a") == ("mysql://host/db", "a")
    with closing(sqlite3.connect("other.db")) as file:
        for table in ("studies", "trials", "trial_params"):
            file.execute(f"CREATE TABLE {table} (id)")
        file.commit()
    assert source("other.db", None) == ("other.db", None)
    assert source("sqlite:///other.db", "a") == ("sqlite:///other.db", "a")


def test_two_studies_are_compared_on_one_page():
    for name in ("a.db", "b.db"):
        with Study.open(name, space=[(0, 1)], algorithm="soo") as made:
            made.tell(made.ask(), 1.0)
    assert bamsoo_("report", "a.db", "b.db").split() == ["a-b.html"]
