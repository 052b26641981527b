"""Prints the accuracy of a model with the parameters NAME=VALUE, by five parts of one made data set."""

import sys

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

given = dict(a.split("=") for a in sys.argv[2:])
x, y = make_classification(1200, 20, n_informative=8, n_classes=3, n_clusters_per_class=3, flip_y=0.05, random_state=1)
model = {
    "forest": lambda: RandomForestClassifier(int(given["trees"]), max_depth=int(given["depth"]), random_state=1),
    "svm": lambda: SVC(C=float(given["C"]), gamma=float(given["gamma"])),
    "knn": lambda: KNeighborsClassifier(int(given["neighbours"])),
}[sys.argv[1]]()
print("accuracy", cross_val_score(model, x, y, cv=5).mean())
