"""The command retry."""

from command_line import bamsoo_, shell, trials


def test_failures_are_taken_back_and_evaluated_again(here):
    shell("test $0 != 5.0 || { echo no licence >&2; exit 1; }; echo $0", budget=4)
    assert [t.state for t in trials()].count("failed") == 1
    said = bamsoo_("retry", "run.db", "--matching", "no space")
    assert (
        said == "run.db: no trial of this study has failed with an error that contains 'no space'\n"
    )
    said = bamsoo_("retry", "run.db", "--matching", "no licence")
    assert said == "run.db: 1 trial pending again: bamsoo resume run.db\n"
    assert "1 pending" in bamsoo_("show", "run.db")
    bamsoo_("resume", "run.db", "--yes")
    assert bamsoo_("retry", "run.db").startswith("run.db: 1 trial pending again")
    assert [len(t.retried) for t in trials()] == [2, 0, 0, 0]
    bamsoo_("report", "run.db", "--no-replay")
    assert "retried; it failed before: exit code 1" in (here / "run.html").read_text()


def test_failures_of_earlier_work_are_taken_back_where_they_are(here):
    shell("exit 1", "--keep-going", budget=2, code=1)
    bamsoo_("fork", "run.db", "new.db")
    said = bamsoo_("retry", "new.db")
    assert said.startswith(
        "new.db: no trial of this study has failed; 2 failures came from earlier"
    )
