"""The journal of a study as its search sees it; what it does for whole studies is tested there."""

import pytest

import bamsoo
from bamsoo.errors import StudyError
from bamsoo.record.events import Told
from bamsoo.study import Study


def test_a_study_overrides_none_of_the_private_methods_of_an_optimizer():
    private = {name for name in vars(Study) if name.startswith("_") and not name.endswith("__")}
    assert not private & set(dir(bamsoo.Optimizer))


def test_events_carry_their_time_and_how_long_they_took(path):
    with Study.open(path, space=[(0, 1)]) as study:
        study.tell(study.ask(), 1.0)
        asked, told = study._events
        assert 0.0 < asked.time <= told.time
        assert isinstance(told, Told)
        assert 0.0 <= told.took < 60.0


def test_after_a_spoilt_step_nothing_more_is_written(path):
    with Study.open(path, space=[(0, 1)]) as study:
        study._journal.spoil("the file is elsewhere")
        with pytest.raises(StudyError, match="the file is elsewhere"):
            study.ask()
    with Study.open(path, readonly=True) as study:
        assert study.length == 0
