"""generate.py WORKLOAD: makes the data of one workload in data/WORKLOAD, unless
it is there. It makes the same data every time. The right result goes beside it,
in data/WORKLOAD.json, and is found without Spark."""

import json
import os
import shutil
import sys
import zlib

import numpy as np

# The sizes are such that a run takes 5 to 20 s on two cores.
WORDS, VOCABULARY = 3_000_000, 1_000_000
POINTS, DIMENSIONS, CLUSTERS = 100_000, 20, 10
RATINGS, USERS, ITEMS, RANK, NOISE = 100_000, 2_500, 500, 4, 0.1
EDGES, VERTICES, STEPS, DAMPING = 250_000, 50_000, 3, 0.85


def session():
    from pyspark.sql import SparkSession

    b = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    b = b.config("spark.ui.enabled", "false").config("spark.local.dir", "scratch/generate")
    spark = b.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def wordcount(path):
    """Words of a vocabulary whose frequencies follow Zipf's law, ten to a line."""
    rng = np.random.default_rng(1)
    vocabulary = []
    for code in rng.permutation(26**5)[:VOCABULARY].tolist():
        word = ""
        while code:
            code, letter = divmod(code, 26)
            word += chr(97 + letter)
        vocabulary.append(word + "e")
    counts = np.zeros(VOCABULARY, np.int64)
    os.makedirs(path)
    for part in range(8):
        ranks = np.floor(VOCABULARY ** rng.random(WORDS // 8)).astype(np.int64) - 1
        counts += np.bincount(ranks, minlength=VOCABULARY)
        words = [vocabulary[r] for r in ranks.tolist()]
        with open(f"{path}/part-{part}.txt", "w") as f:
            for i in range(0, len(words), 10):
                f.write(" ".join(words[i : i + 10]) + "\n")
    used = np.flatnonzero(counts)
    sums = sum(int(counts[i]) * zlib.crc32(vocabulary[i].encode()) for i in used.tolist())
    return {"words": int(counts.sum()), "distinct": len(used), "checksum": sums}


def kmeans(path):
    """Points around centres, with normal noise of variance 1 in each direction:
    the cost of the true centres is POINTS * DIMENSIONS up to chance. A run
    finds a local optimum; its cost is checked on some of the points."""
    from pyspark.sql import functions as F

    centers = np.random.default_rng(2).uniform(-4, 4, (CLUSTERS, DIMENSIONS))
    spark = session()
    points = spark.range(0, POINTS, 1, 8)
    columns = []
    for d in range(DIMENSIONS):
        center = F.element_at(F.array(*[F.lit(float(c)) for c in centers[:, d]]), (F.col("id") % CLUSTERS + 1).cast("int"))
        columns.append((center + F.randn(d + 1)).alias(f"x{d}"))
    points.select(*columns).write.parquet(path)
    some = spark.read.parquet(path).sample(4000 / POINTS, seed=1).collect()
    spark.stop()
    return {
        "cost": float(POINTS * DIMENSIONS), "points": POINTS, "clusters": CLUSTERS, "dimensions": DIMENSIONS,
        "some": [[round(x, 6) for x in p] for p in some],
    }


def als(path):
    """Ratings by factors of a low rank, with normal noise."""
    rng = np.random.default_rng(3)
    users = rng.normal(size=(USERS, RANK)) / RANK**0.5
    items = rng.normal(size=(ITEMS, RANK))
    u = rng.integers(0, USERS, RATINGS)
    i = rng.integers(0, ITEMS, RATINGS)
    r = (users[u] * items[i]).sum(axis=1) + NOISE * rng.normal(size=RATINGS)
    table(path, "user int, item int, rating float", zip(u.tolist(), i.tolist(), np.round(r, 4).tolist()))
    return {"noise": NOISE, "rank": RANK, "spread": float(r.std())}


def pagerank(path):
    """Links whose targets follow a power law; every vertex has one at least."""
    rng = np.random.default_rng(4)
    source = np.concatenate([np.arange(VERTICES), rng.integers(0, VERTICES, EDGES - VERTICES)])
    target = np.floor(VERTICES ** rng.random(EDGES)).astype(np.int64) - 1
    links = np.unique(source * VERTICES + target)
    source, target = links // VERTICES, links % VERTICES
    degree = np.bincount(source, minlength=VERTICES)
    rank = np.ones(VERTICES)
    for _ in range(STEPS):
        rank = 1 - DAMPING + DAMPING * np.bincount(target, (rank / degree)[source], minlength=VERTICES)
    table(path, "src int, dst int", zip(source.tolist(), target.tolist()))
    top = np.argsort(-rank)[:10]
    return {
        "steps": STEPS, "damping": DAMPING, "vertices": VERTICES,
        "sum": float(rank.sum()), "squares": float((rank**2).sum()),
        "top": [[int(v), float(rank[v])] for v in top],
    }


def table(path, schema, rows):
    """Writes rows as a table of 8 files, by way of a text file."""
    text = path + ".csv"
    with open(text, "w") as f:
        for row in rows:
            f.write(",".join(map(str, row)) + "\n")
    spark = session()
    spark.read.csv(text, schema=schema).repartition(8).write.parquet(path)
    spark.stop()
    os.remove(text)


def main():
    name = sys.argv[1]
    path = f"data/{name}"
    if os.path.exists(path + ".json"):
        return
    made = {"wordcount": wordcount, "kmeans": kmeans, "als": als, "pagerank": pagerank}[name]
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs("data", exist_ok=True)
    truth = made(path)
    with open(path + ".part", "w") as f:
        json.dump(truth, f)
    os.rename(path + ".part", path + ".json")


main()
