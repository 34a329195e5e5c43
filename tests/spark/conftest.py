"""The session that the tests of Spark share."""

import os
import sys

import pytest

# Two tests ask for more than are merged at once; 200, as in a shell, take most of the time.
OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "6",
    "spark.ui.showConsoleProgress": "false",
}


@pytest.fixture(scope="session")
def session():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    over_connect = os.environ.get("TOPLIST_SPARK") == "connect"
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if over_connect else builder.master("local[2]")
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    if not over_connect:
        found.sparkContext.setLogLevel("OFF")
    yield found
    found.stop()
