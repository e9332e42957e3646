"""The page as a file: it loads nothing, nothing in it is run, and no other file is replaced."""

import json
import re

import pytest
from click.testing import CliRunner
from report_runs import run

import bamsoo
from bamsoo.command.main import main
from bamsoo.errors import SettingsError, StudyError
from bamsoo.report import describe, render, write
from bamsoo.report.page import embedded

NASTY = "</script><script>alert(1)</script><!--\u2028&amp;"


def test_names_options_and_messages_are_harmless(tmp_path):
    def fun(**params):
        raise ValueError(NASTY)

    path = tmp_path / "<b>&.db"
    run(path, fun, {NASTY: (0, 1), "m": bamsoo.Choice([NASTY, "b"])}, 3)
    page = write(path).read_text()
    assert page.count("</script>") == 2  # the data's and the script's own
    assert "alert(1)" not in page.replace("alert(1)\\u003c/script", "")
    assert "<title>&lt;b&gt;&amp;.db" in page
    data = re.search(r'id="data">(.*?)</script>', page, re.S).group(1)
    assert json.loads(data)["parameters"][0]["name"] == NASTY
    assert json.loads(embedded({"a": NASTY})) == {"a": NASTY}


@pytest.mark.slow
def test_the_page_may_load_nothing(mixed):
    page = render(describe(mixed[0]))
    assert "default-src 'none'" in page
    markup = re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.S)
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)""", markup) == []
    assert "http" not in markup.replace("http-equiv", "")


def test_the_command_writes_and_replaces_its_page(mixed, tmp_path):
    page = tmp_path / "r.html"
    for _ in range(2):
        ran = CliRunner().invoke(main, ["report", str(mixed[0]), "-o", str(page), "--no-replay"])
        assert (ran.exit_code, ran.output) == (0, f"{page}\n")
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_another_file_is_not_replaced(mixed, tmp_path):
    path = tmp_path / "notes.html"
    path.write_text("mine")
    with pytest.raises(SettingsError, match="is not a report"):
        write(mixed[0], path)
    assert path.read_text() == "mine"
    with pytest.raises(SettingsError, match="is not a report"):
        write(mixed[0], mixed[0])
    with pytest.raises(SettingsError, match="does not exist"):
        write(mixed[0], tmp_path / "none" / "r.html")


def test_a_file_that_is_not_a_study_gives_one_sentence(tmp_path):
    (tmp_path / "a.txt").write_text("hello, world, this is text" * 50)
    ran = CliRunner().invoke(main, ["report", str(tmp_path / "a.txt")])
    assert ran.exit_code == 2
    assert "is not a study file" in ran.output
    with pytest.raises(StudyError, match="no such study"):
        write(tmp_path / "none.db")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
