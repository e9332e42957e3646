"""What the tests of the integrations share."""

import pytest


@pytest.fixture(scope="module")
def quiet_optuna():
    """Optuna says nothing below an error."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)
