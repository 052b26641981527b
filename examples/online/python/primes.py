"""Counts primes by a segmented sieve, in several processes, each of which tunes
the size of its segments, and whether even numbers are sieved at all, while it
runs. The count does not depend on the configuration.

    python3 primes.py [--windows N] [--ranks P] [--segment S] [--odd on|off]

Rank r counts the windows r, r+P, r+2P, ... of 2^20 numbers each; a window is one
iteration. --segment and --odd are the configuration of a rank that is not tuned.
"""

import argparse
import math
import multiprocessing
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "clients", "python"))
import assay_online  # noqa: E402

WINDOW = 1 << 20


def small_primes(n):
    sieve = bytearray([1]) * (n + 1)
    sieve[0:2] = b"\0\0"
    for i in range(2, math.isqrt(n) + 1):
        if sieve[i]:
            sieve[i * i :: i] = bytes(len(range(i * i, n + 1, i)))
    return [i for i in range(n + 1) if sieve[i]]


def count_all(lo, hi, primes):
    """Count the primes in [lo, hi) with one flag for each number."""
    flags = bytearray([1]) * (hi - lo)
    for n in range(lo, min(hi, 2)):
        flags[n - lo] = 0
    for p in primes:
        if p * p >= hi:
            break
        first = max(p * p, -(-lo // p) * p) - lo
        if first < len(flags):
            flags[first::p] = bytes(len(range(first, len(flags), p)))
    return sum(flags)


def count_odd(lo, hi, primes):
    """Count the primes in [lo, hi), lo even, with one flag for each odd number."""
    flags = bytearray([1]) * ((hi - lo) // 2)  # flag i is lo + 2i + 1
    if lo == 0:
        flags[0] = 0
    for p in primes[1:]:
        if p * p >= hi:
            break
        first = max(p * p, -(-lo // p) * p)
        first += p if first % 2 == 0 else 0
        i = (first - lo) // 2
        if i < len(flags):
            flags[i::p] = bytes(len(range(i, len(flags), p)))
    return sum(flags) + (1 if lo <= 2 < hi else 0)


def rank(r, args, total):
    primes = small_primes(math.isqrt(args.windows * WINDOW) + 1)
    found = 0
    with assay_online.Client(rank=r, default={"segment": args.segment, "odd": args.odd == "on"}) as tuner:
        for w in range(r, args.windows, args.ranks):
            config = tuner.fetch()
            count = count_odd if config["odd"] in (True, "on") else count_all
            start = time.perf_counter()
            for lo in range(w * WINDOW, (w + 1) * WINDOW, config["segment"]):
                found += count(lo, min(lo + config["segment"], (w + 1) * WINDOW), primes)
            tuner.report(time.perf_counter() - start)
    with total.get_lock():
        total.value += found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--windows", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--segment", type=int, default=4096)
    parser.add_argument("--odd", choices=["on", "off"], default="off")
    args = parser.parse_args()
    start = time.perf_counter()
    total = multiprocessing.Value("q", 0)
    ranks = [multiprocessing.Process(target=rank, args=(r, args, total)) for r in range(args.ranks)]
    for p in ranks:
        p.start()
    for p in ranks:
        p.join()
    print(f"seconds {time.perf_counter() - start:.4f}\nprimes {total.value}")
    return any(p.exitcode for p in ranks)


if __name__ == "__main__":
    sys.exit(main())
