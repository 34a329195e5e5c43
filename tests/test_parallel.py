"""Blocks in threads: Ctrl-C, errors, forks, and no thread to be had."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

import toplist as tl
from toplist import parallel
from toplist.checks import cached

# Python hears Ctrl-C where it is not ignored from the start, as in what a script runs behind `&`.
OUTSIDE = """
import signal, sys, time
from toplist import parallel
signal.signal(signal.SIGINT, signal.default_int_handler)
def block(lo, hi):
    time.sleep(0.05)
    return lo
running = parallel.run(block, [(i, i + 1) for i in range(10_000)], 2)
next(running)
print("ready", flush=True)
time.sleep(60)
"""


def test_a_process_ends_at_once_though_blocks_wait():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", OUTSIDE], **pipes) as process:
        limit = threading.Timer(120, process.kill)
        limit.start()
        try:
            assert process.stdout.readline() == "ready\n"
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            error = process.communicate()[1]
        finally:
            limit.cancel()
            process.kill()
    assert "KeyboardInterrupt" in error and process.returncode != 0
    assert time.perf_counter() - start < 30  # all blocks would take four minutes


def waiting(n_threads):
    """Return work of some minutes, in blocks that sleep."""
    blocks = [(at, at + 1) for at in range(10_000)]
    return lambda: list(parallel.run(lambda lo, hi: time.sleep(0.05), blocks, n_threads))


def evaluating(n_threads):
    """Return work of some minutes, in blocks of kernels."""
    lists = np.random.default_rng(0).integers(0, 2**60, (20_000, 100))
    truth = lists[:, ::5].copy()

    def work():
        for _ in range(3_000):
            tl.top_k_eval(lists, truth, k=50, metrics="mrr", n_threads=n_threads)

    return work


@pytest.mark.skipif(
    sys.platform == "win32" or signal.getsignal(signal.SIGINT) != signal.default_int_handler,
    reason="signals of POSIX, which are ignored in the background of a shell",
)
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("make", [waiting, evaluating])
def test_ctrl_c_ends_an_evaluation_at_once(make, n_threads):
    work, pressed, threads = make(n_threads), [], threading.active_count()

    def press():
        pressed.append(time.perf_counter())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    timer = threading.Timer(0.2, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()
    assert time.perf_counter() - pressed[0] < 30  # of work that takes minutes
    timer.join()
    while threading.active_count() > threads:
        assert time.perf_counter() - pressed[0] < 30
        time.sleep(0.01)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("error", [ValueError, MemoryError])
def test_blocks_that_wait_are_cancelled_by_an_error(error, n_threads):
    done = []

    def block(lo, hi):
        done.append(lo)
        time.sleep(0.002)
        if lo == 3:
            raise error("three")

    with pytest.raises(error, match="three"):
        list(parallel.run(block, [(i, i + 1) for i in range(1_000)], n_threads))
    assert len(done) < 40


@pytest.mark.parametrize("started", [0, 1])
def test_without_a_thread_the_work_goes_on_in_this_one(monkeypatch, started):
    start, left = threading.Thread.start, [started]

    def scarce(self):
        if left[0] == 0:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        start(self)

    monkeypatch.setattr(threading.Thread, "start", scarce)
    blocks = [(i, i + 1) for i in range(50)]
    assert list(parallel.run(lambda lo, hi: lo, blocks, 4)) == list(range(50))
    left[0] = started
    assert list(parallel.ahead(lambda step: -step, range(9), 2)) == [-step for step in range(9)]


FORKS = """
import os, threading, time, warnings
warnings.simplefilter("ignore")
from toplist.checks import cached

class Result:
    @cached
    def total(self):
        time.sleep(0.001)
        return 7

def evaluate():
    return Result().total

evaluate()
stop = []
def work():
    while not stop:
        evaluate()

threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
hung = 0
for _ in range(8):
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        evaluate()
        os._exit(0)
    end = time.time() + 10
    while time.time() < end and os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.005)
    if time.time() >= end:
        hung += 1
        os.kill(child, 9)
        os.waitpid(child, 0)
        break
stop.append(True)
print(hung)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_others_compute_does_not_hang():
    command = [sys.executable, "-c", FORKS]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
        == "0\n"
    )


def test_cached_is_computed_once_and_works_on_frozen_dataclasses():
    @dataclass(frozen=True)
    class One:
        x: int

        @cached
        def twice(self):
            """Twice x."""
            return [2 * self.x]

    one = One(3)
    assert one.twice is one.twice and one.twice == [6]
    assert One.twice.__doc__ == "Twice x." and pickle.loads(pickle.dumps([6])) == one.twice


def test_a_generator_that_is_dropped_does_not_wait_for_its_threads():
    """The garbage collector may drop it where a thread that starts holds a lock of threading."""
    gate = threading.Event()
    release = threading.Timer(20, gate.set)
    release.start()
    found = parallel.ahead(lambda step: gate.wait() if step else step, range(3), 2)
    assert next(found) == 0
    found.close()
    assert not gate.is_set()
    release.cancel()
    gate.set()
