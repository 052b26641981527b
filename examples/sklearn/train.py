"""Trains a classifier of scikit-learn on made-up data, and prints its accuracy on data held back.

    python3 train.py rate=0.1 iterations=100 leaves=31 l2=0 bins=255 features=1 minimum=20
"""
import sys

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

given = dict(text.split("=", 1) for text in sys.argv[1:])
x, y = make_classification(
    n_samples=6000, n_features=30, n_informative=12, n_redundant=6, n_classes=4, n_clusters_per_class=3,
    class_sep=0.8, flip_y=0.03, random_state=1,
)
x, test_x, y, test_y = train_test_split(x, y, test_size=0.4, random_state=2)
model = HistGradientBoostingClassifier(
    learning_rate=float(given["rate"]), max_iter=int(given["iterations"]), max_leaf_nodes=int(given["leaves"]),
    l2_regularization=float(given["l2"]), max_bins=int(given["bins"]), max_features=float(given["features"]),
    min_samples_leaf=int(given["minimum"]), early_stopping=False, random_state=3,
)
model.fit(x, y)
print(f"accuracy {model.score(test_x, test_y):.4f}")
