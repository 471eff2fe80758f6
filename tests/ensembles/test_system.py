from vtree.ensembles.system import System


def test_only_the_learning_rate_has_to_be_said() -> None:
    system = System(0.1)
    assert (system.reg_lambda, system.gamma, system.max_depth, system.goss) == (
        0.0,
        0.0,
        None,
        None,
    )
    assert not system.first_order
