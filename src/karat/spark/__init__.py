"""The same on a cluster: Spark's DataFrames in and out, karat's own kernels inside.

`karat.spark.score(labels, runs, measures)` scores runs of any size. Queries are hashed to buckets, and each bucket is
worked on where it lies, in Arrow batches, by the code that works on one machine. karat has to be installed on the
workers, too. Nothing is collected but what one asks for.
"""

from karat.spark.score import SparkScores as SparkScores
from karat.spark.score import score as score
