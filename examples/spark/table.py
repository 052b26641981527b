"""table.py [--check] [--into PAGE] ASSAY STORE WORKLOAD...: the results of the
workloads' studies, as a table. It asks a study that has ended for its result
once more, by the command that ran it: nothing runs, since its budget is spent.
--check compares Spark's defaults with the best first, if that was not done."""

import argparse
import json
import os
import subprocess

HEAD = """| workload | stopping rule | Spark's defaults | best | less time [95 %] | trials | stopped early | failed | time saved by that |
|---|---|---|---|---|---|---|---|---|"""
BEGIN, END = "<!-- results -->", "<!-- end of results -->"


def ask(*args):
    out = subprocess.run(args, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def compare(assay, store, workload, study, command, check):
    """The comparison of Spark's defaults with the best by runs in turn, A B, B A,
    ..., of which the choice of the best knew nothing; None if it is missing."""
    path = os.path.join(os.path.dirname(store), study + ".compare.json")
    done = None
    if os.path.exists(path):
        with open(path) as f:
            done = json.load(f)
    if done is not None and done["b"]["command"] != command:
        done = None  # of an earlier study of that name
    if check and done is None:
        result = subprocess.run(
            [assay, "compare", "-n", "8", "--json", "--", "./submit", "workload.py", workload, "--", *command],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        with open(path + ".part", "w") as f:
            f.write(result)
        os.rename(path + ".part", path)
        done = json.loads(result)
    return done


def row(args, workload, rule, study):
    flags = ["--store", args.store, "--json"]
    found = ask(args.assay, "tune", workload + ".yaml", "--check", "0", "--stop", rule, "--study", study, *flags)[0]
    trials = ask(args.assay, "study", "trials", study, *flags)
    best, n = found["best"], found["trials"]
    c = compare(args.assay, args.store, workload, study, best["command"], args.check)
    if c is None:
        times = f"{trials[0]['value']:.1f} s | {best['value']:.1f} s | not compared"
    else:
        # The change of the time is from ci[0] to ci[1]; a bound that is not known is null.
        low, high = (unknown if x is None else f"{-100 * x:.0f}" for x, unknown in zip(c["ci"][::-1], ("−∞", "100")))
        mark = "~ " if c["verdict"] == "~" else ""
        times = f"{c['a']['median']:.1f} s | {c['b']['median']:.1f} s | {mark}{-100 * c['change']:.0f} % [{low}, {high}], {c['pairs']} pairs"
    share = found["saved_s"] / (found["spent_s"] + found["saved_s"])
    return (
        f"| {workload} | {rule} | {times} | {n['total']} | {n['censored']} | {n['failed']} | {found['saved_s']:.0f} s, {100 * share:.0f} % |"
    ), configuration(workload, rule, trials[0]["config"], best["config"])


def configuration(workload, rule, default, best):
    changed = ", ".join(f"{k} {default[k]} → {v}" for k, v in best.items() if v != default[k])
    return f"* {workload}, {rule}: {changed or 'the defaults'}."


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--check", action="store_true")
    p.add_argument("--into")
    p.add_argument("assay")
    p.add_argument("store")
    p.add_argument("workloads", nargs="+")
    args = p.parse_args()
    known = {s["study"]: s for s in ask(args.assay, "study", "ls", "--store", args.store, "--json")}
    rows, best = [], []
    for workload in args.workloads:
        for rule, study in (("auto", f"spark-{workload}"), ("predictive", f"spark-{workload}-predictive")):
            if study in known:
                r, b = row(args, workload, rule, study)
                rows.append(r)
                best.append(b)
    text = "\n".join([HEAD, *rows, "", "Differences of the best configuration from the defaults:", "", *best])
    if args.into is None:
        print(text)
        return
    with open(args.into) as f:
        before, rest = f.read().split(BEGIN)
    with open(args.into, "w") as f:
        f.write(before + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1])


main()
