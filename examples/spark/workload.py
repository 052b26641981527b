"""workload.py WORKLOAD: one run of a workload of HiBench's kinds on its data, by
Spark's own operators. It ends with exit code 1 if the result is wrong. The
command that submits it sets Spark up."""

import json
import sys

import numpy as np
from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F


def wordcount(spark, truth):
    lines = spark.read.text("data/wordcount")
    words = lines.select(F.explode(F.split("value", " ")).alias("word"))
    counts = words.groupBy("word").count()
    seen = Observation("result")
    counts = counts.observe(
        seen, F.count("*").alias("distinct"), F.sum("count").alias("words"),
        F.sum(F.col("count") * F.crc32("word")).alias("checksum"),
    )
    counts.write.mode("overwrite").parquet("scratch/wordcount")
    return [(key, seen.get[key], truth[key], 0) for key in ("distinct", "words", "checksum")]


def kmeans(spark, truth):
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.feature import VectorAssembler

    columns = [f"x{d}" for d in range(truth["dimensions"])]
    points = VectorAssembler(inputCols=columns, outputCol="features").transform(spark.read.parquet("data/kmeans")).select("features")
    points.cache()
    model = KMeans(k=truth["clusters"], maxIter=10, tol=0.0, seed=1).fit(points)
    cost = model.summary.trainingCost
    some, centers = np.array(truth["some"]), np.array(model.clusterCenters())
    distances = ((some[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2).min(axis=1)
    return [("cost", cost, distances.mean() * truth["points"], 0.1), ("least cost", min(cost, truth["cost"]), truth["cost"], 0.01),
            ("greatest cost", max(cost, 2 * truth["cost"]), 2 * truth["cost"], 0)]


def als(spark, truth):
    from pyspark.ml.recommendation import ALS

    ratings = spark.read.parquet("data/als")
    model = ALS(rank=truth["rank"], maxIter=5, regParam=0.01, seed=1).fit(ratings)
    sampled = model.transform(ratings.sample(0.02, seed=1))
    error = sampled.select(F.sqrt(F.avg((F.col("rating") - F.col("prediction")) ** 2))).first()[0]
    return [("error", error, truth["noise"], 0.3)]


def pagerank(spark, truth):
    spark.conf.set("spark.sql.shuffle.partitions", 16)  # as HiBench sets its own; 200 tasks a stage would be all there is
    links = spark.read.parquet("data/pagerank")
    links = links.join(links.groupBy("src").count(), "src").cache()
    vertices = links.select(F.col("src").alias("id")).distinct().cache()
    ranks = vertices.withColumn("rank", F.lit(1.0))
    for _ in range(truth["steps"]):
        given = links.join(ranks, links.src == ranks.id).select("dst", (F.col("rank") / F.col("count")).alias("part"))
        received = given.groupBy("dst").agg(F.sum("part").alias("sum"))
        ranks = vertices.join(received, vertices.id == received.dst, "left").select(
            "id", (1 - truth["damping"] + truth["damping"] * F.coalesce("sum", F.lit(0.0))).alias("rank"))
    ranks.cache()
    total, squares, vertices = ranks.select(F.sum("rank"), F.sum(F.col("rank") ** 2), F.count("*")).first()
    results = [("vertices", vertices, truth["vertices"], 0), ("sum", total, truth["sum"], 1e-9), ("squares", squares, truth["squares"], 1e-9)]
    top = ranks.orderBy(F.desc("rank")).limit(10).collect()
    return results + [(f"rank of {v}", row["rank"], r, 1e-9) for row, (v, r) in zip(top, truth["top"])]


def main():
    name = sys.argv[1]
    run = {"wordcount": wordcount, "kmeans": kmeans, "als": als, "pagerank": pagerank}[name]
    with open(f"data/{name}.json") as f:
        truth = json.load(f)
    spark = SparkSession.builder.appName(name).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    wrong = 0
    for what, got, want, tolerance in run(spark, truth):
        if not abs(got - want) <= tolerance * abs(want):
            print(f"{name}: {what} is {got}, want {want} within {tolerance:.0e} of it", file=sys.stderr)
            wrong = 1
    spark.stop()
    if wrong == 0:
        print(f"{name}: the result is right")
    sys.exit(wrong)


main()
