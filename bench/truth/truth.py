"""truth.py STUDY.yaml...: is the verdict of a study true?

Each study is run as it is. Then its best configuration and the first one are run 15 times each, in turn, in a drawn order,
each run as a study of one configuration. A line of a table has the verdict, and the change between the medians of these
runs with its 95 % interval (bootstrap of the rounds). A verdict is right if

- a gain is shown, and the runs show a change for the better;
- or no gain is shown, and the runs do not show one of more than 1 %.

With two objectives the changes of both are printed, of the balanced configuration, and "right" is that one is better.
assay is the program on the PATH; PyYAML is needed. ROUNDS is the number of rounds, ARGS what assay tune gets besides.
"""

import copy
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import yaml

ROUNDS = int(os.environ.get("ROUNDS", "15"))


def assay(*args):
    return subprocess.run(["assay", *args], capture_output=True, text=True)


def alone(study, config):
    """The study whose default is the configuration, which is its only run."""
    one = copy.deepcopy(study)
    for name, p in one["parameters"].items():
        if not isinstance(p, dict):
            p = one["parameters"][name] = {"values": p}
        if name in config:
            p["default"] = config[name]
    one["budget"] = {"trials": 1}
    one.pop("subject_to", None)
    return one


def metrics(study):
    """The objectives, each with +1 if less is better, -1 if more is."""
    given = study.get("objective", {"minimize": "elapsed"})
    out = {}
    for one in given if isinstance(given, list) else [given]:
        for direction, names in one.items():
            for name in names if isinstance(names, list) else [names]:
                out[name] = 1 if direction == "minimize" else -1
    return out


def interval(pairs):
    """The ratio of the medians of the second to the first, and its 95 % interval."""
    ratio = lambda some: statistics.median(b for _, b in some) / statistics.median(a for a, _ in some)
    rng = random.Random(1)
    drawn = sorted(ratio(rng.choices(pairs, k=len(pairs))) for _ in range(4000))
    return ratio(pairs), drawn[100], drawn[3899]


def verdict(path):
    with open(path) as f:
        study = yaml.safe_load(f)
    name, wanted, folder = study["name"], metrics(study), os.path.dirname(path) or "."
    os.makedirs(os.path.join(folder, study["dir"]), exist_ok=True)
    with tempfile.TemporaryDirectory() as store:
        began = time.time()
        out = assay("tune", path, "--store", store + "/s", *os.environ.get("ARGS", "").split())
        if out.returncode:
            sys.exit(out.stdout + out.stderr)
        print(out.stdout, file=sys.stderr)
        shown = json.loads(assay("study", "show", name, "--store", store + "/s", "--json").stdout)
        best = shown["best"]
        trials = [json.loads(l) for l in assay("study", "trials", name, "--store", store + "/s", "--json").stdout.splitlines()]
        first = trials[0]["config"]
        spent = time.time() - began
        if best["config"] == first:
            return [name, "the first is the best", "", "", f"{spent:.0f}"]
        rounds = []
        for n in range(ROUNDS):
            got = {}
            for side in random.sample(["first", "best"], 2):
                one = alone(study, first if side == "first" else best["config"])
                one["name"] = f"{name}-{side}-{n}"
                file = os.path.join(folder, f".truth-{os.getpid()}.yaml")
                with open(file, "w") as f:
                    yaml.safe_dump(one, f, sort_keys=False)
                ran = assay("tune", file, "--check", "none", "--stop", "none", "--store", store + "/t")
                os.remove(file)
                text = assay("study", "trials", one["name"], "--store", store + "/t", "--json").stdout
                trial = json.loads(text.splitlines()[0]) if text else {}
                if trial.get("state") != "done":
                    sys.exit(f"{one['name']}: {ran.stdout}{ran.stderr}{trial}")
                got[side] = trial["metrics"]
            rounds.append((got["first"], got["best"]))
    texts, better = [], False
    for metric, sign in wanted.items():
        r, low, high = interval([(a[metric], b[metric]) for a, b in rounds])
        texts.append(f"{(r - 1) * 100:+.1f} % [{(low - 1) * 100:+.1f}, {(high - 1) * 100:+.1f}]" + (f" {metric}" if len(wanted) > 1 else ""))
        better = better or (high < 1 if sign > 0 else low > 1)
        much = high < 0.99 if sign > 0 else low > 1.01
    if len(wanted) > 1:
        return [name, "balanced", ", ".join(texts), "yes" if better else "NO", f"{spent:.0f}"]
    answer = shown["answer"]
    right = better if answer["shown"] else not much
    return [name, answer["gain"], texts[0], "yes" if right else "NO", f"{spent:.0f}"]


print("| study | verdict | 15 + 15 runs | right | s |\n|---|---|---|---|--:|", flush=True)
wrong = 0
for given in sys.argv[1:]:
    row = verdict(given)
    wrong += row[3] == "NO"
    print("| " + " | ".join(row) + " |", flush=True)
sys.exit(wrong > 0)
