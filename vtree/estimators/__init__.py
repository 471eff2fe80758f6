"""The scikit-learn face: estimators check what they are given, call the engine, keep arrays."""
