"""Pictures of trees: where nodes stand, how much is drawn, what stands in the boxes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vtree
from vtree.errors import InputError
from vtree.explain import picture
from vtree.explain.picture import draw_tree, lay_out

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def data() -> tuple[Floats, Floats]:
    generator = np.random.default_rng(0)
    X = generator.standard_normal((600, 3))
    return X, X[:, 0] * X[:, 1] + 0.1 * generator.standard_normal(600)


def _texts(model: Any, path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[str]:
    """Draw a tree and return what is written in the picture."""
    figures: list[Any] = []
    draw = picture._figure

    def keep(*arguments: Any) -> Any:
        figures.append(draw(*arguments))
        return figures[-1]

    monkeypatch.setattr(picture, "_figure", keep)
    draw_tree(model, path, **options)
    assert path.read_bytes().startswith(b"\x89PNG")
    return [text.get_text() for text in figures[0].axes[0].texts]


def test_the_format_is_that_of_the_ending(tmp_path: Path) -> None:
    model = vtree.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    starts = {"svg": b"<?xml", "pdf": b"%PDF", "jpg": b"\xff\xd8", "PNG": b"\x89PNG"}
    for ending, start in starts.items():
        draw_tree(model, tmp_path / f"tree.{ending}")
        assert (tmp_path / f"tree.{ending}").read_bytes().startswith(start)
    with pytest.raises(InputError, match=r"ends in \.xlsx, but a picture's must be one of \.png"):
        draw_tree(model, tmp_path / "tree.xlsx")


def test_large_thresholds_keep_their_digits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = vtree.DecisionTreeClassifier().fit([[2019.0], [2020.0]], [0, 1])
    assert "feature 0 ≤ 2019.5" in _texts(model, tmp_path / "year.png", monkeypatch)[-3]


def test_surrogates_stand_behind_or(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(40.0)
    table = {"own": x, "twin": -x, "like": x + x % 3, "level": np.where(x < 22, "low", "high")}
    model = vtree.DecisionTreeClassifier(max_depth=1, surrogates=3).fit(table, x > 19)
    box = _texts(model, tmp_path / "t.png", monkeypatch)[2]
    assert box.splitlines()[:3] == ["own ≤ 19.5", "or twin > -19.50", "or like ≤ 20.50 …"]


def test_leaves_stand_side_by_side_and_parents_above_them(data: tuple[Floats, Floats]) -> None:
    tree = vtree.DecisionTreeRegressor(max_depth=5).fit(*data).grown_
    layout = lay_out(tree)
    is_leaf = tree.first_child < 0
    assert sorted(layout.x[is_leaf].tolist()) == list(range(int(is_leaf.sum())))
    first = tree.first_child[~is_leaf]
    np.testing.assert_allclose(layout.x[~is_leaf], (layout.x[first] + layout.x[first + 1]) / 2)
    np.testing.assert_array_equal(layout.y[first], layout.y[~is_leaf] + 1)
    assert (layout.x[first] < layout.x[first + 1]).all()


def test_boxes_of_a_classifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"price $": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"]}
    model = vtree.DecisionTreeClassifier().fit(table, ["a", "a", "b", "c"])
    texts = _texts(model, tmp_path / "t.png", monkeypatch)
    assert "price \\$ ≤ 2.5\na 50%\n4 rows" in texts
    assert "colour in blue\nb 50%\n2 rows" in texts or "price \\$ ≤ 3.5\nb 50%\n2 rows" in texts
    assert "c 100%\n1 row" in texts
    assert texts.count("yes") == texts.count("no") == 2


def test_splits_that_are_not_drawn_are_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: tuple[Floats, Floats]
) -> None:
    model = vtree.DecisionTreeRegressor(max_depth=3).fit(*data)
    texts = _texts(model, tmp_path / "t.png", monkeypatch, max_depth=1)
    boxes = [text for text in texts if "rows" in text]
    assert len(boxes) == 3
    assert [text.endswith("…") for text in boxes] == [False, True, True]
    assert boxes[0].startswith("feature ")


def test_a_large_tree_is_cut(tmp_path: Path, data: tuple[Floats, Floats]) -> None:
    model = vtree.DecisionTreeRegressor(max_depth=9).fit(*data)
    shown = draw_tree(model, tmp_path / "t.png")
    assert 4 <= shown < 9
    with pytest.raises(InputError, match="a picture holds 64"):
        draw_tree(model, tmp_path / "t.png", max_depth=9)


def test_a_single_leaf_and_other_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: tuple[Floats, Floats]
) -> None:
    X = data[0]
    leaf = vtree.DecisionTreeClassifier().fit(X, np.zeros(600, dtype=int))
    assert draw_tree(leaf, tmp_path / "t.png", max_depth=5) == 0
    labels = np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1).astype(int)
    two = vtree.DecisionTreeClassifier(max_depth=2).fit(X, labels)
    assert any(text.startswith("1, 1\n") for text in _texts(two, tmp_path / "t.png", monkeypatch))


def test_missing_values_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    model = vtree.DecisionTreeClassifier().fit(X, [0, 0, 1, 1])
    texts = _texts(model, tmp_path / "t.png", monkeypatch)
    assert "feature 0 is present\n0 50%\n4 rows" in texts


def test_many_categories_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"level {place}" for place in range(12)]
    model = vtree.DecisionTreeClassifier(max_depth=1).fit({"x": names}, [0, 1] * 6)
    texts = _texts(model, tmp_path / "t.png", monkeypatch)
    assert "x\nin level 0, level 10, level 2, 3 more\n0 50%\n12 rows" in texts


def test_multiway_splits_name_their_branches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = vtree.DecisionTreeClassifier(max_depth=1).fit({"x": list("abc")}, [0, 1, 1])
    tree = model.grown_
    model.grown_ = tree._replace(
        **{
            name: np.concatenate([array, array[-1:]])
            for name, array in tree._asdict().items()
            if name not in {"root", "branch_map"}
        }
    )
    model.grown_.n_children[0] = 3
    model.grown_.kind[0] = 2
    model.grown_.branch_map[:] = [0, 0, 1, 2]
    texts = _texts(model, tmp_path / "t.png", monkeypatch)
    assert texts[:3] == ["a", "b", "c"]
    assert any(text.startswith("x\n0 67%") or text.startswith("x\n1 67%") for text in texts)


def test_one_tree_of_many_and_what_it_adds(
    data: tuple[Floats, Floats], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data
    forest = vtree.RandomForestRegressor(n_estimators=3, max_depth=2, random_state=0).fit(X, y)
    texts = _texts(forest, tmp_path / "t.png", monkeypatch, number=2)
    root = int(forest.grown_.root[2])
    assert any(f"feature {forest.grown_.feature[root]} ≤ " in text for text in texts)
    assert sum(" row" in text for text in texts) == forest.grown_.feature.size - root
    with pytest.raises(InputError, match="trees are 0 … 2"):
        draw_tree(forest, tmp_path / "t.png", number=3)
    table = {"place": [f"p{n % 7}" for n in range(600)], "size": X[:, 0].tolist()}
    model = vtree.OrderedBoostingClassifier(n_estimators=2, depth=2).fit(table, y > 0.0)
    texts = _texts(model, tmp_path / "t.png", monkeypatch)
    value = model.grown_.value[0, 0]
    assert any(f"{value:.4g}\n600 rows" in text for text in texts)


def test_names_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = vtree.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    names: dict[str, Any] = {"feature_names": ["size"], "class_names": ["small", "large"]}
    texts = _texts(model, tmp_path / "t.png", monkeypatch, **names)
    assert any(text.startswith("size") for text in texts)
    assert any("large" in text for text in texts)
