"""Problems by name."""

from types import SimpleNamespace

import pytest

from bamsoo_lab.bench.errors import BenchError
from bamsoo_lab.bench.named import Named


def test_problems_have_different_names_that_errors_list():
    known = Named("design")
    known.add(SimpleNamespace(name="beam"))
    known.add(SimpleNamespace(name="spring"))
    assert [*known] == ["beam", "spring"] and known["beam"].name == "beam"
    with pytest.raises(
        BenchError, match="no design is called 'gear'; expected one of beam, spring"
    ):
        known["gear"]
    with pytest.raises(BenchError, match="two designs are called 'beam'; rename one of them"):
        known.add(SimpleNamespace(name="beam"))
