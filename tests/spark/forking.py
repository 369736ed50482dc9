"""Spark's keeper of Python workers, which imports what they need before it makes them by forking itself.

Spark's own forks first, and every worker imports karat, Polars and pandas anew: one and a half seconds of the processor
for each, and with every error a worker ends. After each task a worker looks for garbage; what was imported is none.
"""

if __name__ == "__main__":
    import gc

    import pandas  # noqa: F401
    import pyarrow  # noqa: F401
    import pyspark.worker  # noqa: F401
    from pyspark.daemon import manager

    import karat.spark  # noqa: F401

    gc.freeze()
    manager()
