"""What losses are called: here, and by XGBoost, LightGBM and CatBoost."""

from __future__ import annotations

from typing import Any

from vtree.losses import REGRESSION

# Where a peer's loss is another one (XGBoost's pseudo-Huber) or its name holds numbers (CatBoost's
# "Huber:delta=2"), there is no entry.
_PEERS = {
    "squared_error": (
        *("reg:squarederror", "regression", "regression_l2", "l2", "mse", "mean_squared_error"),
        *("rmse", "l2_root", "root_mean_squared_error", "RMSE"),
    ),
    "absolute_error": (
        *("reg:absoluteerror", "regression_l1", "l1", "mae", "mean_absolute_error", "MAE"),
    ),
    "quantile": ("reg:quantileerror",),
    "poisson": ("count:poisson", "Poisson"),
    "gamma": ("reg:gamma",),
    "tweedie": ("reg:tweedie",),
}
_OWN = {peer: name for name, peers in _PEERS.items() for peer in peers}

REAL_OBJECTIVES = frozenset({*REGRESSION, *_OWN})
# The log-loss of as many classes as there are, as in the peers' scikit-learn interfaces.
CLASS_OBJECTIVES = frozenset(
    {
        *("binary:logistic", "multi:softprob", "multi:softmax"),
        *("binary", "multiclass", "softmax"),
        *("Logloss", "MultiClass"),
    }
)


def objective_of(asked: Any) -> Any:
    """Return the loss that the parameter `objective` means: a name of `REGRESSION` or a function.

    None for the log-loss of classes.

    >>> objective_of("reg:squarederror"), objective_of("MAE"), objective_of("binary:logistic")
    ('squared_error', 'absolute_error', None)
    """
    if not isinstance(asked, str):
        return asked
    return None if asked in CLASS_OBJECTIVES else _OWN.get(asked, asked)
