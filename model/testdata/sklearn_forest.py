"""Time scikit-learn's random forest in one thread, for TestForestSpeed.

Usage: sklearn_forest.py train.csv candidates.csv
Prints the least time in ms of fitting 100 trees to the first table, and of the
mean and spread over the trees at each row of the second.
"""
import sys
import time

import numpy as np
from sklearn.ensemble import RandomForestRegressor


def read(path):
    return np.genfromtxt(path, delimiter=",", skip_header=1)


train, candidates = read(sys.argv[1]), read(sys.argv[2])
X, y = train[:, :25], np.log(train[:, 25])
C = candidates[:, :25].astype(np.float32)
fit, predict = [], []
for seed in range(5):
    start = time.perf_counter()
    forest = RandomForestRegressor(100, random_state=seed).fit(X, y)
    fit.append(time.perf_counter() - start)
    for _ in range(5):
        start = time.perf_counter()
        each = np.stack([tree.tree_.predict(C) for tree in forest.estimators_])
        each.mean(axis=0), each.std(axis=0)
        predict.append(time.perf_counter() - start)
print(1e3 * min(fit), 1e3 * min(predict))
