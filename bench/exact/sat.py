"""Counts the conflicts of CaDiCaL on a fixed set of formulas.

    python3 sat.py --make DIR            writes the formulas
    python3 sat.py DIR [--OPTION=N ...]  prints the sum of their conflicts

A formula counts as LIMIT if it is not solved after that many conflicts."""

import glob
import os
import random
import re
import subprocess
import sys

LIMIT = 20000


def chance(seed: int, variables: int, clauses: int) -> list:
    """Uniform 3-SAT."""
    draw = random.Random(seed)
    return [[v if draw.random() < 0.5 else -v for v in draw.sample(range(1, variables + 1), 3)] for _ in range(clauses)]


def product(number: int, bits: int) -> list:
    """The factors of a number, both of the given bits and above 1, by an array multiplier."""
    out, top = [], [2 * bits]

    def fresh() -> int:
        top[0] += 1
        return top[0]

    def gate(table, *inputs: int) -> int:
        y = fresh()
        for row in range(1 << len(inputs)):
            values = [row >> i & 1 for i in range(len(inputs))]
            out.append([-x if v else x for x, v in zip(inputs, values)] + [y if table(values) else -y])
        return y

    columns: list = [[] for _ in range(2 * bits + 1)]
    for i in range(bits):
        for j in range(bits):
            columns[i + j].append(gate(all, i + 1, bits + j + 1))
    for k in range(2 * bits):
        column = columns[k]
        while len(column) > 1:
            terms = [column.pop(0) for _ in range(min(3, len(column)))]
            column.append(gate(lambda v: sum(v) % 2, *terms))
            columns[k + 1].append(gate(lambda v: sum(v) > 1, *terms))
        bit = number >> k & 1
        if column:
            out.append([column[0] if bit else -column[0]])
    out += [[-x] for x in columns[2 * bits]]
    return out + [list(range(2, bits + 1)), list(range(bits + 2, 2 * bits + 1))]


def make(folder: str) -> None:
    formulas = {f"chance{s}": chance(s, 170, 730) for s in range(4)}
    formulas |= {f"product{n}": product(n, 11) for n in (1009 * 1013, 1999 * 2003, 1299709)}
    for name, clauses in formulas.items():
        with open(os.path.join(folder, name + ".cnf"), "w", encoding="ascii") as f:
            f.write(f"p cnf {max(abs(x) for c in clauses for x in c)} {len(clauses)}\n")
            f.writelines(" ".join(map(str, c)) + " 0\n" for c in clauses)


def main() -> None:
    if sys.argv[1] == "--make":
        make(sys.argv[2])
        return
    total = 0
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.cnf"))):
        done = subprocess.run(["cadical", "-n", "-c", str(LIMIT), *sys.argv[2:], path], capture_output=True, text=True, check=False)
        found = re.search(r"^c conflicts: +(\d+)", done.stdout, re.M)
        if done.returncode not in (0, 10, 20) or not found:
            sys.exit(f"{path}: {done.stdout[-200:]}{done.stderr}")
        total += LIMIT if done.returncode == 0 else int(found[1])
        print(path, done.returncode, found[1])
    print("conflicts", total)


main()
