"""Optuna's own suite of tests for samplers, run on BaMSOOSampler."""

from functools import partial

import pytest

from bamsoo.integrations.optuna import BaMSOOSampler

suite = pytest.importorskip(
    "optuna.testing.pytest_samplers", reason="this version of Optuna comes without its suite"
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quiet_optuna")]


class TestOptunasOwnSuite(suite.BasicSamplerTestCase, suite.RelativeSamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return partial(BaMSOOSampler, seed=0)


class TestOptunasSuiteForSeveralObjectives(suite.MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return partial(BaMSOOSampler, seed=0)
