"""Real numbers: how ranges compare, and their scale."""

import numpy as np
import pytest

from bamsoo.space import Real, Space


@pytest.mark.parametrize("flag", [1, np.True_])
def test_any_true_log_flag_means_log(flag):
    space = Space([(0, 10), Real(1, 100, log=flag)])
    np.testing.assert_allclose(space.decode(np.full(2, 0.5)), [5.0, 10.0], rtol=1e-14)


def test_equal_reals_compare_equal_and_cannot_be_changed():
    assert Real(1, 2, log=True) == Real(1.0, 2.0, log=True)
    assert Real(1, 2) != Real(1, 2, log=True)
    with pytest.raises(AttributeError):
        Real(1, 2).low = 0
