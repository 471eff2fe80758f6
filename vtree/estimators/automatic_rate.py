"""The learning rate that CatBoost takes where none is given.

The larger the table the faster, and the fewer the rounds: min(½, exp(b) N^a (rounds / 1,000)^c),
with numbers for each loss. Here they were found from the rates that CatBoost 1.2.10 reports.
"""

from __future__ import annotations

import math

_PLAIN = 0.03
_MOST = 0.5
# (a, b, c): all rounds are kept, or those up to the best one.
_NUMBERS = {
    "logistic": ((0.427, -7.525, -0.917), (0.247, -5.158, -0.435)),
    "multinomial": ((0.051, -2.889, -0.845), (0.02, -2.364, -0.382)),
    "squared_error": ((0.158, -4.287, -0.813), (0.157, -4.062, -0.61)),
}


def automatic_rate(loss: str, n_rows: int, rounds: int, *, keeps_best: bool) -> float:
    """Return the rate for a loss by its name, 0.03 for others than log-losses and squares.

    >>> round(automatic_rate("squared_error", 200, 100, keeps_best=False), 3)
    0.206
    """
    if loss not in _NUMBERS:
        return _PLAIN
    a, b, c = _NUMBERS[loss][keeps_best]
    return min(_MOST, math.exp(a * math.log(n_rows) + b + c * math.log(rounds / 1_000)))
