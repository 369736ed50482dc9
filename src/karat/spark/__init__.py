"""The same on a cluster: Spark's DataFrames in and out, karat's own kernels inside.

`karat.spark.score(labels, runs, measures)` scores runs of any size, `karat.spark.clicks(log)` tells what clicks say of
documents, `karat.spark.judges(labels)` what documents are probably worth and how judges err. Queries or documents are
hashed to buckets, and each bucket is worked on where it lies, in Arrow batches, by the code that works on one machine.
karat has to be installed on the workers, too. Nothing is collected but what one asks for.
"""

from karat.spark.clicks import SparkClicks as SparkClicks
from karat.spark.clicks import clicks as clicks
from karat.spark.judges import SparkErrorModel as SparkErrorModel
from karat.spark.judges import judges as judges
from karat.spark.score import SparkScores as SparkScores
from karat.spark.score import score as score
