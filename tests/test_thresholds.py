import numpy as np

from vtree.binning import bin_table
from vtree.thresholds import thresholds


def test_thresholds_lie_in_the_gaps_of_their_features() -> None:
    X = np.array([[0.0, 10.0], [1.0, 20.0], [4.0, 40.0], [8.0, 80.0]])
    bins = bin_table(X, np.array([-1, -1]))
    feature = np.array([1, 0, 1, 0, 1])
    # Codes 1 … 4 stand for the four values; 0: all values on one side, missing ones on the other.
    bin, following = np.array([1, 1, 2, 3, 4]), np.array([2, 3, 4, 4, 0])
    code, threshold = thresholds(feature, bin, following, bins)
    assert threshold.tolist() == [15.0, 2.0, 50.0, 6.0, np.inf]
    assert code.tolist() == [1, 2, 3, 3, 4]
    drawn = np.array([11.0, 3.9, 20.0, 4.5, np.inf])
    code, threshold = thresholds(feature, bin, following, bins, drawn)
    assert threshold.tolist() == drawn.tolist()
    assert code.tolist() == [1, 2, 2, 3, 4]
