"""Ask for configurations, run them yourself, and report the results.

    import assay

    study = assay.Study({"heat": (900, 1200), "glaze": ["clear", "white"]}, name="kiln", minimize="cracks", trials=20)
    for trial in study:
        study.tell(trial, fire(trial["heat"], trial["glaze"]))
    print(study.best_params, study.best_value)

The search runs in the installed command assay, or on a server. See docs/python.md.
"""

from ._desk import AssayError, NotFound, UsageError
from ._space import Bool, Categorical, Float, Int, Permutation
from ._study import (
    FrozenTrial,
    MedianPruner,
    Over,
    Study,
    Trial,
    TrialPruned,
    Waiting,
    create_study,
    load_study,
)

__all__ = [
    "AssayError",
    "Bool",
    "Categorical",
    "Float",
    "FrozenTrial",
    "Int",
    "MedianPruner",
    "NotFound",
    "Over",
    "Permutation",
    "Study",
    "Trial",
    "TrialPruned",
    "UsageError",
    "Waiting",
    "create_study",
    "load_study",
]
