"""The parameters of a loss as they were in fit: what is set after it changes no prediction."""

from __future__ import annotations

from typing import Any

from vtree.estimators.objectives import objective_of


class FittedLoss:
    """Base of estimators whose predictions depend on what their loss is."""

    _of_loss: tuple[str, ...] = ()  # the parameters that say what the loss is
    _fitted_loss: dict[str, Any] | None = None

    def _loss_parameter(self, name: str) -> Any:
        """Return a parameter of the loss: that of the trees there are, else as it is set."""
        return self._loss_parameters()[name]

    def _loss_parameters(self) -> dict[str, Any]:
        if self._fitted_loss is not None:
            return self._fitted_loss
        own = {name: objective_of(getattr(self, name)) for name in self._of_loss}
        # Of functions of the user's own predictions do not depend.
        return {name: "squared_error" if callable(value) else value for name, value in own.items()}

    def _take_loss(self, saved: dict[str, Any]) -> None:
        """Set what a file says of the loss; raise KeyError or TypeError for less."""
        self._fitted_loss = {name: saved[name] for name in self._of_loss}
