"""The family of errors."""

import bamsoo


def test_every_error_is_of_the_family_and_a_builtin():
    errors = [
        getattr(bamsoo.errors, name) for name in bamsoo.errors.__all__ if name != "BamsooError"
    ]
    assert len(errors) >= 5
    for error in errors:
        assert issubclass(error, bamsoo.BamsooError)
        assert issubclass(error, (ValueError, TypeError, RuntimeError))
