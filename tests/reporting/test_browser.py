"""The page in Chromium: sorting, choosing, filters, without script, no network, narrow, printed.

Needs selenium, chromium and chromedriver: `pytest -m browser`. With TOPLIST_AXE, the path of
axe-core's axe.min.js, it also finds no fault of accessibility.
"""

import base64
import os
import re
import shutil
import zlib
from pathlib import Path

import pytest
from reporting.pages import HOSTILE, systems

import toplist as tl

pytestmark = pytest.mark.browser
pytest.importorskip("jinja2")
webdriver = pytest.importorskip("selenium.webdriver")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("no chromium and chromedriver", allow_module_level=True)

# Widths of a phone and of a screen.
NARROW, WIDE = 390, 1280
SEEN = (
    ".filter(u => u.offsetParent)"
    ".map(u => [u.querySelector('bdi').textContent, +u.dataset.d, +u.dataset.r])"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A page of three systems over users and items with hostile names."""
    given, truth = systems(120, items=lambda n: f"i{n:02}{HOSTILE[n % 12][:200]}")
    given["third"] = dict(zip(given["new"], reversed(given["new"].values()), strict=True))
    given = {f"{name} {HOSTILE[1]}": lists for name, lists in given.items()}
    found = tmp_path_factory.mktemp("page") / "page.html"
    by = {user: user[-1] for user in truth}
    titles = {item: f"Title {item}" for one in truth.values() for item in one}
    options = {"metrics": ["ndcg", "recall"], "by": by, "titles": titles, "n_users": 25}
    tl.report(given, truth, [1, 5, 10], path=found, **options)
    return found


@pytest.fixture(scope="module", params=[2, 6])
def long_names(request, tmp_path_factory):
    """A page as it is by default, of some systems with names of 40 letters, six metrics."""
    given, truth = systems(120)
    names = [f"two-tower-v3-embedding-128-shrunk-pop-{i:02}" for i in range(request.param)]
    some = {name: given["new" if i % 2 else "base"] for i, name in enumerate(names)}
    found = tmp_path_factory.mktemp("page") / "long.html"
    tl.report(some, truth, [1, 5, 10], path=found, by={user: user[-1:] for user in truth})
    return found


@pytest.fixture(scope="module")
def started():
    """Chromium, without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for one in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{one}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield browser
    browser.quit()


@pytest.fixture
def browser(started, path):
    """Chromium with the page, without network: what is asked of it is an error."""
    started.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    started.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    sized(started, WIDE)
    started.get_log("browser"), started.get_log("performance")
    started.get("about:blank")
    started.get(path.as_uri())
    yield started
    assert [entry["message"] for entry in started.get_log("browser")] == []
    requests = [
        e["message"] for e in started.get_log("performance") if "requestWillBeSent" in e["message"]
    ]
    assert {re.search(r'"url":"(\w+):', one)[1] for one in requests} <= {"file", "about"}


def sized(browser, width, dark=False):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == NARROW}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def users(browser):
    """Return (id, difference, relevant) of the users that are seen, in their order."""
    return browser.execute_script(f"return [...document.querySelectorAll('.u')]{SEEN}")


def groups(browser):
    """Return the users of each group that is seen."""
    return browser.execute_script(
        "return [...document.querySelectorAll('.us')].filter(g => g.offsetParent)"
        f".map(g => [...g.children]{SEEN})"
    )


def control(browser, label):
    return next(
        one.find_element("css selector", "input,select")
        for one in browser.find_elements("css selector", "#tools label")
        if one.text.startswith(label)
    )


def choose(browser, label, text):
    option = [
        o for o in control(browser, label).find_elements("tag name", "option") if text in o.text
    ]
    option[0].click()


def test_sorting_moves_the_users_of_each_group(browser):
    given = groups(browser)
    assert len(given) == 3
    for text, key in (
        ("difference", lambda u: u[1]),
        ("relevant items", lambda u: -u[2]),
        ("id", lambda u: int(u[0][1:])),
    ):
        choose(browser, "Sort", text)
        for some, was in zip(groups(browser), given, strict=True):
            keys = [key(user) for user in some]
            assert keys == sorted(keys) and sorted(some) == sorted(was)
    choose(browser, "Sort", "as given")
    assert groups(browser) == given


def test_filters_leave_the_users_that_have_it(browser):
    everyone = users(browser)
    status = browser.find_element("css selector", "[role=status]")
    control(browser, "At least").clear()
    control(browser, "At least").send_keys("3")
    assert users(browser) == [user for user in everyone if user[2] >= 3]
    assert status.text == f"{len(users(browser))} shown"
    one = users(browser)[0][0]
    control(browser, "Filter").send_keys(one.upper())
    assert [user[0] for user in users(browser)] == [one]
    control(browser, "Filter").clear()
    control(browser, "Filter").send_keys("title i07")
    found = users(browser)
    assert 0 < len(found) < len(everyone)
    control(browser, "Filter").send_keys(" nothing has this")
    assert users(browser) == []


def test_a_system_and_a_user_are_chosen(browser, path):
    first = users(browser)
    choose(browser, "System", "third")
    others = browser.find_elements("css selector", ".pair")
    assert [one.is_displayed() for one in others] == [False, True]
    assert users(browser) != first
    last = browser.execute_script(
        "return document.querySelector('.pair .us:last-child').lastChild.id"
    )
    browser.get(f"{path.as_uri()}#{last}")
    opened = browser.find_elements("css selector", "details[open]")
    assert [one.get_attribute("id") for one in opened] == [last] and opened[0].is_displayed()
    browser.find_element("tag name", "button").click()
    n = browser.execute_script("return document.querySelectorAll('.u[open]').length")
    assert n >= len(users(browser))


def test_arrow_keys_go_from_user_to_user(browser):
    keys = webdriver.Keys
    body = browser.find_element("tag name", "body")
    body.send_keys(keys.ARROW_RIGHT)

    def at():
        return browser.execute_script("return document.querySelector('.u[open] bdi')?.textContent")

    shown = [user[0] for user in users(browser)]
    assert at() == shown[0]
    for place in (1, 2, 1):
        key = keys.ARROW_RIGHT if place > shown.index(at()) else keys.ARROW_LEFT
        browser.switch_to.active_element.send_keys(key)
        assert at() == shown[place]
    control(browser, "Filter").send_keys("u", keys.ARROW_LEFT)
    assert at() == shown[1]


def test_without_script_all_of_it_is_there(browser, path):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(path.as_uri())
        shown = browser.find_elements("css selector", "summary")
        assert len(shown) > 90 and all(
            one.is_displayed() for one in shown if "relevant" in one.text
        )
        assert browser.find_elements("css selector", "button, input, select") == []
        first = browser.find_element("css selector", ".u")
        assert not first.find_element("tag name", "li").is_displayed()
        first.find_element("tag name", "summary").click()
        assert first.find_element("tag name", "li").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_nothing_is_wider_than_the_window(browser, width):
    sized(browser, width)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide == width
    heights = browser.execute_script(
        "return [...document.querySelectorAll('summary, button, input, select')]"
        ".filter(e => e.offsetParent).map(e => e.getBoundingClientRect().height)"
    )
    assert min(heights) >= 44


# What stands within its own box, and what boxes hold.
CUT = """
const all = [...document.querySelectorAll('svg text, figcaption, h2, h3, p, th, td')];
return all.filter(e => e.getClientRects().length && !e.closest('.vh')).map(e => {
  const own = e.getBoundingClientRect(), svg = e.closest('svg');
  const box = svg ? svg.getBoundingClientRect() : {left: 0, right: arguments[0]};
  const wide = own.right > box.right + 1 || own.left < box.left - 1;
  return wide && (svg || !e.closest('.scroll')) ? e.textContent : ''}).filter(Boolean)
"""


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_long_names_are_neither_cut_nor_over_each_other(browser, long_names, width):
    sized(browser, width)
    browser.get(long_names.as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") == width
    assert browser.execute_script(CUT, width) == []
    # the answer, its pictures and its table come before anything else
    top = browser.execute_script(
        "return ['.verdict', 'svg', 'table'].map(s => document.querySelector(s))"
        ".map(e => e.getBoundingClientRect().top)"
    )
    assert top == sorted(top) and (width == NARROW or top[-1] < 900)


def test_the_first_column_stays_where_a_table_is_moved(browser, long_names):
    sized(browser, NARROW)
    browser.get(long_names.as_uri())
    places = browser.execute_script(
        "const box = document.querySelector('#tests .scroll'), th = box.querySelector('tbody th');"
        "box.scrollLeft = 200; return [box.scrollLeft,"
        " th.getBoundingClientRect().left - box.getBoundingClientRect().left]"
    )
    assert places[0] > 50 and abs(places[1]) < 1


def test_a_page_is_printed_on_few_sheets(browser, long_names):
    browser.get(long_names.as_uri())
    assert 3 <= sheets(browser)[0] <= 10
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    a4 = 695  # pixels between the margins
    metrics = {"width": a4, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        wide = browser.execute_script(
            "return [...document.querySelectorAll('table, svg, p, pre')]"
            ".map(e => e.getBoundingClientRect().right)"
        )
        assert max(wide) <= a4 + 1
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def sheets(browser):
    """Return the number of sheets of A4, and the bytes of the PDF."""
    size = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True}
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", size)["data"])
    return len(re.findall(rb"/Type\s*/Page\b", printed)), printed


def test_an_injected_script_does_not_run(browser, path, tmp_path):
    text = path.read_text()
    for one in ("<script>window.bad=1</script>", "<img src=x onerror='window.bad=1'>"):
        other = tmp_path / "other.html"
        other.write_text(text.replace('<main id="main"', f'{one}<main id="main"'))
        browser.get(other.as_uri())
        assert browser.execute_script("return window.bad") is None
        assert len(users(browser)) > 20  # the script of the page did
        said = [entry["message"] for entry in browser.get_log("browser")]
        assert any("Content Security Policy" in line for line in said)


def test_the_lists_of_users_are_printed(browser):
    sized(browser, WIDE, dark=True)
    assert browser.execute_script("return document.querySelectorAll('.u[open]').length") == 0
    pages, printed = sheets(browser)  # with the lists of all users of the system chosen
    assert pages > 10 and len(zlib.compress(printed)) > 50_000


@pytest.mark.parametrize("dark", [False, True])
def test_no_serious_fault_of_accessibility(browser, dark):
    axe = os.environ.get("TOPLIST_AXE")
    if not axe:
        pytest.skip("TOPLIST_AXE has no path of axe.min.js")
    sized(browser, WIDE, dark)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.execute_script(Path(axe).read_text())
    found = browser.execute_async_script("axe.run().then(arguments[0])")
    serious = [
        (one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"][:300])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical", "moderate")
    ]
    assert serious == []
