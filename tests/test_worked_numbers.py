"""Worked numbers of the textbooks and manuals that no other test holds, node by node."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

import vtree
from tests.c45_golden import split_table
from tests.golden_tables import GOLDEN, kyphosis
from vtree import C45Classifier, DecisionTreeClassifier, draws
from vtree.chaid.association import AssociationTest, f_test, likelihood_ratio, pearson
from vtree.choice import NodeRows, Nodes
from vtree.criteria import CLASSIFICATION
from vtree.fractions import divisible
from vtree.grown import plant, root_totals
from vtree.histogram import build, rows_of
from vtree.pruning.error_based import added_errors, j48_bound


def _root(X: pd.DataFrame, y: Any, **settings: Any) -> dict[str, tuple[float, float, Any]]:
    """Return {column: (gain, split information, what the search found)} of a root."""
    model = C45Classifier(**settings)
    data = model._prepare(X, y, None)
    bins = model._bin(data)
    targets, _ = divisible(data.targets)
    search = model._search(targets, np.ones(X.shape[1], dtype=np.bool_), bins)
    order = np.arange(len(y), dtype=np.int32)
    codes = bins.groups[0].codes
    rows, start, stop = rows_of(targets, codes), np.array([0]), np.array([len(y)])
    ends = np.array([0, len(y)])
    total = root_totals(ends, targets, order, rows, order)
    grown = plant(ends, total, np.atleast_1d(draws.mix(np.arange(1))))
    used = np.zeros((1, X.shape[1]), dtype=np.bool_)
    nodes = Nodes(
        grown.total, grown.key, grown.lower, grown.upper,
        NodeRows(order, start, stop, rows), used, grown.depth,
    )  # fmt: skip
    figures = {}
    for group in bins.groups:
        hist = build(group, rows, order, start, stop) if search.needs_sums(group) else None
        found = search.find(group, hist, nodes, bins)
        for g, feature in enumerate(group.features.tolist()):
            own = (float(found.gain[0, g]), float(found.info[0, g]), found)
            figures[str(X.columns[feature])] = own
    return figures


def test_play_tennis_at_the_root_and_where_it_is_sunny() -> None:
    X, y, _, _ = split_table("weather_nominal.all")
    expected = {  # gain, split information, ratio, weighted Gini
        "outlook": (0.246749819774, 1.577406282852, 0.156427562421, 0.342857142857),
        "temperature": (0.029222565659, 1.556656707463, 0.018772646222, 0.440476190476),
        "humidity": (0.151835501362, 1.0, 0.151835501362, 0.367346938776),
        "windy": (0.048127030408, 0.985228136034, 0.048848615512, 0.428571428571),
    }
    found = _root(X, y)
    for name, (gain, info, ratio, gini) in expected.items():
        assert found[name][:2] == pytest.approx((gain, info), abs=1e-12)
        assert found[name][0] / found[name][1] == pytest.approx(ratio, abs=1e-12)
        shares = pd.crosstab(X[name], y, normalize="index").to_numpy()
        impurity = CLASSIFICATION["gini"].impurity
        assert impurity is not None
        layout = vtree.targets.class_targets(np.zeros((1, 1), np.int64), [2], None).layout
        each = impurity(np.column_stack([np.ones(len(shares)), shares]), layout)
        own = X[name].value_counts()[pd.crosstab(X[name], y).index].to_numpy() / 14
        assert float((each * own).sum()) == pytest.approx(gini, abs=1e-12)
    average = np.mean([gain for gain, *_ in found.values()])
    assert average == pytest.approx(0.118983729301, abs=1e-12)
    for level, gains in (
        ("sunny", {"humidity": 0.970950594455, "temperature": 0.570950594455,
                   "windy": 0.019973094022}),
        ("rainy", {"windy": 0.970950594455, "temperature": 0.019973094022,
                   "humidity": 0.019973094022}),
    ):  # fmt: skip
        inside = (X["outlook"] == level).to_numpy()
        below = _root(X[inside].drop(columns="outlook"), y[inside], min_objects=1)
        for name, gain in gains.items():
            assert below[name][0] == pytest.approx(gain, abs=1e-12)


def test_play_tennis_with_other_settings() -> None:
    X, y, _, _ = split_table("weather_nominal.all")
    plain, strict = C45Classifier().fit(X, y), C45Classifier(confidence=0.1).fit(X, y)
    assert 100 * plain.predicted_errors_[0] / 14 == pytest.approx(38.5, abs=0.05)
    assert 100 * strict.predicted_errors_[0] / 14 == pytest.approx(55.0, abs=0.05)
    assert strict.grown_.feature.tolist() == plain.grown_.feature.tolist()
    assert (plain.grown_.feature.size, plain.get_n_leaves()) == (8, 5)
    leaf = C45Classifier(min_objects=5).fit(X, y)
    assert leaf.grown_.feature.size == 1 and (leaf.predict(X) != y).sum() == 5
    assert leaf.predicted_errors_[0] == pytest.approx(6.794993148, abs=1e-8)  # 48.5 %


def test_numeric_weather_has_no_cut_that_is_worth_its_price() -> None:
    X, y, _, _ = split_table("weather_numeric.all")
    raw = _root(X, y, mdl_correction=False)
    assert raw["temperature"][0] == pytest.approx(0.045334172, abs=1e-9)
    gain, _, found = raw["humidity"]
    assert gain == pytest.approx(0.151835501, abs=1e-9)
    place = [name for name in X.columns if X[name].dtype.kind in "if"].index("humidity")
    assert found.cuts.tries[0, place] == 7
    assert np.log2(7) / 14 == pytest.approx(0.200525, abs=1e-6)
    paid = _root(X, y)
    assert paid["humidity"][0] == paid["temperature"][0] == -np.inf


def test_golf_with_an_outlook_missing() -> None:
    X, y, _, _ = split_table("golf_missing.all")
    found = _root(X, y)
    gain, info, _ = found["outlook"]
    assert (gain, info) == pytest.approx((0.199040708, 1.809200033), abs=1e-9)
    assert gain / info == pytest.approx(0.110015866, abs=1e-9)
    assert found["windy"][:2] == pytest.approx((0.048127030, 0.985228136), abs=1e-9)
    model = C45Classifier(prune=False).fit(X, y)
    tree, errors = model.grown_, model.predicted_errors_
    assert errors[0] == pytest.approx(6.137836, abs=1e-6)
    branch = np.arange(3) + tree.first_child[0]
    weights = dict(zip(model.schema_.levels[tree.feature[0]], tree.weight[branch], strict=True))
    sunny, overcast, rain = (weights[name] for name in ("sunny", "overcast", "rainy"))
    assert (sunny, overcast, rain) == pytest.approx((5 + 5 / 13, 3 + 3 / 13, 5 + 5 / 13), abs=1e-9)
    leaf = tree.first_child < 0
    expected = [1.514090, 1.127213, 1.0, 1.110118, 1.386414]
    np.testing.assert_allclose(sorted(errors[leaf]), sorted(expected), atol=1e-6)
    humid = np.flatnonzero(leaf & (np.abs(errors - 1.514090) < 1e-6))[0]
    assert tree.value[humid].min() * tree.weight[humid] == pytest.approx(0.384615, abs=1e-6)


def _watermelon(*missing: tuple[int, str]) -> tuple[pd.DataFrame, NDArray[Any]]:
    facts = json.loads((GOLDEN / "validation_pruning.json").read_text())["watermelon"]
    table = pd.DataFrame(facts["rows"], columns=facts["columns"])
    for row, column in missing:
        table.loc[row - 1, column] = None
    return table.drop(columns="label"), table["label"].to_numpy()


def test_watermelons() -> None:
    expected = {
        "colour": 0.108125165, "root": 0.142674960, "sound": 0.140781434,
        "texture": 0.380591897, "navel": 0.289158783, "touch": 0.006046489,
    }  # fmt: skip
    found = _root(*_watermelon(), min_objects=1)
    for name, gain in expected.items():
        assert found[name][0] == pytest.approx(gain, abs=1e-9)


def test_watermelons_with_missing_values() -> None:
    missing = [(1, "colour"), (5, "colour"), (13, "colour"), (9, "root"), (17, "root"),
               (3, "sound"), (12, "sound"), (8, "texture"), (10, "texture"), (6, "navel"),
               (15, "navel"), (2, "touch"), (11, "touch")]  # fmt: skip
    expected = {
        "colour": 0.251965818, "root": 0.171178265, "sound": 0.144802911,
        "texture": 0.423560268, "navel": 0.288825324, "touch": 0.005713030,
    }  # fmt: skip
    found = _root(*_watermelon(*missing), min_objects=1)
    for name, gain in expected.items():
        assert found[name][0] == pytest.approx(gain, abs=1e-9)


def test_the_seeds_of_humidity() -> None:
    X, y, _, _ = split_table("seed_humidity.all")
    raw, paid = _root(X, y, mdl_correction=False), _root(X, y)
    (name,) = raw
    assert raw[name][2].cuts.tries[0, 0] == 8
    assert np.log2(8) / 14 == pytest.approx(0.214285714, abs=1e-9)
    assert raw[name][0] == pytest.approx(0.605289106, abs=1e-9)
    assert paid[name][:2] == pytest.approx((0.391003392, 0.863120569), abs=1e-9)


def test_errors_expected_of_leaves() -> None:
    expected = {(6, 0): 0.206299474, (9, 0): 0.142756, (16, 1): 0.156680872, (168, 1): 0.015536042}
    for (n, e), share in expected.items():
        added = added_errors(0.25)(np.array([float(n)]), np.array([float(e)]))[0]
        assert (e + added) / n == pytest.approx(share, abs=5e-7)
    assert j48_bound(0.25).deviation ** 2 == pytest.approx(0.454936423, abs=1e-9)
    # Not far from Clopper and Pearson's limit, whose share is exact.
    limit = 14 * stats.beta.ppf(0.75, 6, 9)
    assert limit == pytest.approx(6.769184042, abs=1e-9)
    both = [5 + added_errors(0.25, of)(np.array([14.0]), np.array([5.0]))[0]
            for of in ("r8", "j48")]  # fmt: skip
    assert both[1] < limit < both[0] == pytest.approx(6.794993148, abs=1e-9)


def _log_p(test: AssociationTest, table: NDArray[Any]) -> float:
    whole = np.ones((1, len(table)), dtype=np.bool_)
    return float(test.log_p(table[None].astype(np.float64), whole)[0])


def _counts(name: str, row: str, column: str) -> pd.DataFrame:
    table = pd.read_csv(GOLDEN / f"{name}.csv")
    return table.pivot_table("count", row, column, "sum")


def test_chi_squares() -> None:
    titanic = {name: _counts("titanic", name, "survived") for name in ("class", "age", "sex")}
    cases: list[tuple[Any, Any, float, int]] = [
        (pearson, titanic["class"].iloc[[0, 1]], 27.007889505, 1),
        (pearson, titanic["class"].iloc[[1, 2]], 25.409517346, 1),
        (pearson, titanic["class"].iloc[[0, 2]], 132.537676759, 1),
        (pearson, titanic["class"], 133.052035986, 2),
        (pearson, titanic["age"], 10.433234374, 1),
        (pearson, titanic["sex"], 343.568374895, 1),
        (likelihood_ratio, titanic["class"], 132.688563938, 2),
        (likelihood_ratio, titanic["age"], 10.120672642, 1),
        (likelihood_ratio, titanic["sex"], 347.771180337, 1),
    ]
    hair = _counts("haireye", "Hair", "Eye")
    cases.append((pearson, hair.loc[["Brown", "Red"]], 5.294157153, 3))
    joined = hair.rename({"Brown": "BrownRed", "Red": "BrownRed"}).groupby(level=0).sum()
    cases.append((pearson, joined, 132.595160496, 6))
    departments = _counts("ucb", "Dept", "Admit").rename(lambda d: {"B": "A", "D": "C"}.get(d, d))
    cases.append((pearson, departments.groupby(level=0).sum(), 778.478610318, 3))
    for test, table, statistic, df in cases:
        expected = stats.chi2.logsf(statistic, df)
        assert _log_p(test(1.0), table.to_numpy()) == pytest.approx(expected, rel=1e-9)
    p = np.exp(_log_p(pearson(1.0), titanic["age"].to_numpy()))
    assert p == pytest.approx(0.001237678, rel=1e-6)
    p = np.exp(_log_p(pearson(1.0), titanic["sex"].to_numpy()))
    assert p == pytest.approx(1.065992e-76, rel=1e-6)


def test_f_ratios_of_chicks() -> None:
    groups = pd.read_csv(GOLDEN / "chickwts.csv").groupby("feed")["weight"]
    moments = pd.DataFrame({"n": groups.count(), "sum": groups.sum(), "within":
                            groups.var(ddof=0) * groups.count()})  # fmt: skip
    test, rows = f_test(1.0), 71

    def joined(*names: str) -> Any:
        own = moments.loc[list(names)].to_numpy()
        return test.pool(own[None], np.ones((1, len(names)), dtype=np.bool_))[0]

    pairs = {
        ("casein", "sunflower"): 0.052217893,
        ("meatmeal", "soybean"): 1.641054228,
    }
    for names, ratio in pairs.items():
        own = moments.loc[list(names)]
        expected = stats.f.logsf(ratio, 1, own["n"].sum() - 2)
        assert _log_p(test, own.to_numpy()) == pytest.approx(expected, rel=1e-7)
    three = np.stack([moments.loc["linseed"].to_numpy(), joined("meatmeal", "soybean")])
    expected = stats.f.logsf(4.132359119, 1, three[:, 0].sum() - 2)
    assert _log_p(test, three) == pytest.approx(expected, rel=1e-8)
    whole = stats.f.logsf(15.364799775, 5, rows - 6)
    assert _log_p(test, moments.to_numpy()) == pytest.approx(whole, rel=1e-9)
    assert np.exp(whole) == pytest.approx(5.936420e-10, rel=1e-6)
    final = np.stack([
        joined("casein", "sunflower"), joined("meatmeal", "soybean"),
        moments.loc["horsebean"].to_numpy(), moments.loc["linseed"].to_numpy(),
    ])  # fmt: skip
    log_p = _log_p(test, final)
    assert log_p == pytest.approx(stats.f.logsf(24.970296057, 3, rows - 4), rel=1e-9)
    assert np.exp(log_p) == pytest.approx(5.855457e-11, rel=1e-6)
    assert 65 * np.exp(log_p) == pytest.approx(3.806047e-09, rel=1e-6)


def test_the_weakest_link_of_kyphosis() -> None:
    X, y = kyphosis()
    limits = {"min_samples_split": 20, "min_samples_leaf": 7}
    model = DecisionTreeClassifier(criterion="entropy", **limits).fit(X, y)
    path = vtree.prune(model, method="cost_complexity", X_val=X, y_val=y).subtrees_
    # (17 − 12) / 3 / 17 where rpart's one pass reports .088235; risks are shares of 81 rows
    root_risk = 17 / 81
    assert path.alphas.max() / root_risk == pytest.approx(0.098039, abs=1e-6)
