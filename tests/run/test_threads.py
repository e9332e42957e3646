"""A fair share of the cores for each worker."""

import os

import pytest

from bamsoo.run import threads


@pytest.mark.parametrize(
    ("cores", "workers", "share"), [(8, 1, 8), (8, 3, 2), (8, 8, 1), (2, 16, 1), (None, 4, 1)]
)
def test_workers_share_the_cores(monkeypatch, cores, workers, share):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert threads.fair_share(workers) == share


def test_every_library_is_told_unless_the_user_has_decided(monkeypatch):
    for name in threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert threads.environment(3) == dict.fromkeys(threads.VARIABLES, "3")
    monkeypatch.setenv(threads.VARIABLES[-1], "5")
    assert threads.environment(3) == {}
