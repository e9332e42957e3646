"""Optuna's own suite of tests for samplers, run on BaMSOOSampler."""

from functools import partial

import optuna
import pytest

from bamsoo.integrations.optuna import BaMSOOSampler

suite = pytest.importorskip(
    "optuna.testing.pytest_samplers", reason="this version of Optuna comes without its suite"
)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True, scope="module")
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


class TestOptunasOwnSuite(
    suite.BasicSamplerTestCase, suite.RelativeSamplerTestCase, suite.SingleOnlySamplerTestCase
):
    @pytest.fixture(params=["auto", "soo"])
    def sampler(self, request):
        return partial(BaMSOOSampler, request.param, seed=0)
