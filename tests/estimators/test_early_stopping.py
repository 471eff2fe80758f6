import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from vtree import NewtonBoostingClassifier, digest


def test_early_stopping_keeps_the_best_rounds() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    train, held = (table[::2], y[::2]), (table[1::2], y[1::2])
    model = NewtonBoostingClassifier(early_stopping_rounds=5, eval_metric="logloss")
    model.fit(*train, eval_set=[train, held])
    history = model.evals_result_["validation_1"]["logloss"]
    assert len(history) == model.best_iteration_ + 6 < 100
    assert model.best_score_ == min(history) == history[model.best_iteration_]
    assert model.n_estimators_ == model.best_iteration_ + 1
    shorter = NewtonBoostingClassifier(n_estimators=model.n_estimators_).fit(*train)
    assert digest(model) == digest(shorter)
    assert model.best_score_ == pytest.approx(log_loss(held[1], model.predict_proba(held[0])))
    for metric in ("auc", "error", lambda y, p: float(np.mean((y - p[:, 1]) ** 2))):
        model.set_params(eval_metric=metric).fit(*train, eval_set=[held])
        assert 0.0 <= model.best_score_ <= 1.0
