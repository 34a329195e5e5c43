"""Write the example page of ``toplist report``, and the picture of it that README shows.

Run ``python notebooks/make_report.py``: it writes report.png, of a part of the page as Chromium
draws it, 1,280 pixels wide. It needs the extra ``[report]``, selenium and Chromium. The site has
the whole page.
"""

import base64
import os
import shlex
import tempfile
from pathlib import Path

from toplist.cli import main

FOLDER = Path(__file__).resolve().parent
COMMAND = (
    "toplist report retail/itemknn.jsonl.gz retail/ease.jsonl.gz retail/truth.jsonl.gz"
    " -m ndcg recall -k 5 10 20 --segments retail/users.csv.gz:baskets --quiet"
    " -o report.html"
)
WIDTH = 1280
# from the answer to the curves
FIRST, LAST = "h1", "#curves .grid"


def write(path):
    """Write the example page."""
    words = [str(path) if word == "report.html" else word for word in shlex.split(COMMAND)]
    before = Path.cwd()
    os.chdir(FOLDER)
    try:
        if status := main(words[1:]):
            raise SystemExit(status)
    finally:
        os.chdir(before)


def photograph(page, picture):
    """Write a PNG of a part of the page."""
    from selenium import webdriver
    from selenium.webdriver.common.by import By

    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--hide-scrollbars"):
        options.add_argument(option)
    driver = webdriver.Chrome(options=options)
    try:
        size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        first, last = (driver.find_element(By.CSS_SELECTOR, one).rect for one in (FIRST, LAST))
        top, end = first["y"] - 40, last["y"] + last["height"] + 8
        clip = {"x": 0, "y": top, "width": WIDTH, "height": end - top, "scale": 1}
        whole = {"captureBeyondViewport": True, "clip": clip}
        data = driver.execute_cdp_cmd("Page.captureScreenshot", whole)["data"]
    finally:
        driver.quit()
    picture.write_bytes(base64.b64decode(data))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "report.html")
        photograph(Path(folder) / "report.html", FOLDER / "report.png")
