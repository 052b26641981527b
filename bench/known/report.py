#!/usr/bin/env python3
"""report.py FILE.jsonl...: the best value after k runs as a multiple of the first run, which is the default: of its
rate, or of the reciprocal of its time.

It prints a row for each workload and number of runs: the medians over the seeds with and without the studies that ship,
and the ratio of the two, seed by seed, as a geometric mean with the interval of a bootstrap over the seeds.
"""
import json
import math
import random
import sys


def best(values, k):
    """The best of the first k values beside the first one."""
    return max(v for v in values[:k] if v) / values[0]


def median(xs):
    xs = sorted(xs)
    n = len(xs)
    return xs[n // 2] if n % 2 else (xs[n // 2 - 1] + xs[n // 2]) / 2


def interval(logs, draws=10_000):
    rng = random.Random(1)
    means = sorted(sum(rng.choices(logs, k=len(logs))) / len(logs) for _ in range(draws))
    return math.exp(means[int(0.025 * draws)]), math.exp(means[int(0.975 * draws)])


def main():
    arms = {}
    for path in sys.argv[1:]:
        for line in open(path, encoding="utf-8"):
            r = json.loads(line)
            speeds = [v if v is None or r["maximize"] else 1 / v for v in r["values"]]
            arms.setdefault(r["workload"], {}).setdefault(r["seed"], {})[r["arm"]] = speeds
    print("| workload | runs | with | without | ratio | seeds |\n|---|--:|--:|--:|---|--:|")
    for workload, seeds in arms.items():
        pairs = [(s["known"], s["none"]) for s in seeds.values() if len(s) == 2]
        longest = min(len(v) for pair in pairs for v in pair)
        for k in [k for k in (2, 3, 8) if k <= longest]:
            known, none = [best(a, k) for a, _ in pairs], [best(b, k) for _, b in pairs]
            logs = [math.log(max(v for v in a[:k] if v) / max(v for v in b[:k] if v)) for a, b in pairs]
            low, high = interval(logs)
            print("| %s | %d | %.2f | %.2f | %.2f [%.2f, %.2f] | %d |" % (
                workload, k, median(known), median(none), math.exp(sum(logs) / len(logs)), low, high, len(pairs)))


if __name__ == "__main__":
    main()
