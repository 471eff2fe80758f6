"""scikit-learn's checks of estimators, all of them in one test."""

from collections.abc import Collection
from typing import Any

from sklearn.utils.estimator_checks import estimator_checks_generator


def failed_checks(estimator: Any, excused: Collection[str] = ()) -> dict[str, Exception]:
    """Return the names of the checks that fail, and their errors; `excused` ones are not run."""
    failed = {}
    for instance, check in estimator_checks_generator(estimator):
        name = getattr(check, "func", check).__name__
        if name in excused:
            continue
        try:
            check(instance)
        except Exception as error:
            if type(error).__name__ not in ("SkipTestWarning", "SkipTest"):
                failed[name] = error
    return failed
