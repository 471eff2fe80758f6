"""Whether a loss has the derivatives that it says it has."""

from typing import Any

import numpy as np

from vtree.losses import Loss


def check(loss: Loss, raw: Any, y: Any, *, hessian: bool = True) -> None:
    """Compare the derivatives of one raw prediction with differences."""
    step = 1e-5
    raw = np.asarray(raw, dtype=np.float64)[:, None]
    above, here, below = loss.of(raw + step, y), loss.of(raw, y), loss.of(raw - step, y)
    slope = (above.loss - below.loss) / (2 * step)
    np.testing.assert_allclose(here.gradient[:, 0], slope, rtol=1e-6, atol=1e-6)
    if hessian:
        bend = (above.gradient - below.gradient) / (2 * step)
        np.testing.assert_allclose(here.hessian, bend, rtol=1e-5, atol=1e-6)
