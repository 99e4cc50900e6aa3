#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_test.py BUILD_FOLDER [long] [Net.TEST...]: `unetsock --net`.  Connections within this machine are met and carried
as those between hosts are (UNETSOCK_NET_ALL), and look the same as over plain TCP, also where the network's path dies;
peers without a key, with another one, and without unetsock stay with TCP."""
import concurrent.futures
import itertools
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import both
import exact_test
import programs_test
import random_test
from net_programs import (BURSTS, CLIENT, CROWD, CROWD_SERVER, DEAF, EDGES, IDLE, IDLE_SERVER, KILLED, KILLED_SERVER,
                          LISTEN_ANYWHERE, NOTHING, NOWHERE, ONE_STREAM, ONE_WAY, ONE_WAY_SERVER, ROUNDS, ROUND_SERVER,
                          SERVER, SPACE, SPACE_EDGES, STOPPED, STOPPED_SERVER, STREAMS, STREAM_SERVER)

BUILD = None
LONG = "long" in sys.argv[2:]  # before the classes, which ask it
STEPS = 300
CHAOS = "loss=0.2,dup=0.05,reorder=0.1"

MASK = (1 << 64) - 1
MAGIC = 0x346b636f7374656e


def siphash(key, data):
    """SipHash-2-4, as in unet/unet_siphash.h."""
    def rotate(x, bits):
        return (x << bits | x >> (64 - bits)) & MASK

    v = [key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
         key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573]

    def turn():
        for a, b, c, d, x, y in (0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21):
            v[a] = (v[a] + v[b]) & MASK
            v[b] = rotate(v[b], x) ^ v[a]
            v[a] = rotate(v[a], 32)
            v[c] = (v[c] + v[d]) & MASK
            v[d] = rotate(v[d], y) ^ v[c]

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        turn(), turn()
        v[0] ^= word
    v[2] ^= 255
    turn(), turn(), turn(), turn()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def of_networks(one, other):
    """Each value over a good network and a bad one; in the short test one of them over each."""
    good, bad = {}, {"UNETSOCK_NET_CHAOS": CHAOS}
    return itertools.product((one, other), (good, bad)) if LONG else ((one, good), (other, bad))


class Net(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.key = self.make_key("key")
        # Who finds its core busy would leave all to TCP, unless it is told to spin.
        self.environment = {"UNETSOCK_SPIN": "50", "UNETSOCK_NET_ALL": "1", "UNETSOCK_NET": "udp",
                            "UNETSOCK_NET_MANY": "1000", "UNETSOCK_KEY": self.key, "UNET_INTERFACE": "127.0.0.1"}

    def make_key(self, name):
        path = str(self.folder / name)
        made = subprocess.run([BUILD.unetsock, "--make-key"], env=dict(os.environ, UNETSOCK_KEY=path),
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(made.stdout, path + "\n")
        return path

    def front(self, *words, key=None):
        return subprocess.run([BUILD.unetsock, *words], env=dict(os.environ, UNETSOCK_KEY=key or self.key),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    # ---- calls --------------------------------------------------------------------------

    def random_programs(self, seeds, **more):
        moved = 0
        for seed in seeds:
            command = [BUILD.program("random_calls"), str(seed), str(STEPS), "far"]
            mode = both.MODES[seed % len(both.MODES)]
            plain = BUILD.run(command)
            ours = BUILD.run(command, mode, stats=True, environment={**self.environment, **more})
            moved += both.upgraded(ours.stderr)
            found = random_test.differences(plain.stdout.splitlines(), ours.stdout.splitlines())
            self.assertEqual((found[:8], ours.returncode), ([], plain.returncode),
                             f"seed {seed}, UNETSOCK_UPGRADE={mode} {ours.stderr}")
        return moved

    def test_random_programs(self):
        moved = self.random_programs((*range(1, 400 if LONG else 5), 171))
        if LONG:  # how many are met while such a program runs is a matter of time
            self.assertGreater(moved, 40)

    def test_the_network_is_bad(self):
        self.random_programs(range(1, 200 if LONG else 5), UNETSOCK_NET_CHAOS=CHAOS)

    def test_the_path_dies(self):
        self.random_programs(range(1, 200 if LONG else 5), UNETSOCK_NET_DIES="12")
        self.random_programs(range(1, 200 if LONG else 5), UNETSOCK_NET_DIES="12", UNETSOCK_NET_CHAOS=CHAOS)

    def differs(self, program, turns, *words, least=10, **more):
        environment = {**self.environment, **more}
        os.environ.update(environment)
        try:
            for _ in range(5):  # beside busy programs the two ends may miss each other
                found = exact_test.differs(BUILD, program, turns, least, words)
                if not found or not found.startswith(exact_test.NOTHING_TESTED):
                    break
            return found
        finally:
            for name in environment:
                del os.environ[name]

    def test_connections_that_others_get(self):
        # All may be with TCP when they are counted: a fork takes them there.
        self.assertIsNone(self.differs("matrix_calls", 5 if LONG else 1, "hands", "far", least=None))

    def test_sets(self):
        self.assertIsNone(self.differs("set_calls", 5 if LONG else 1, "far"))

    def test_data_behind_data(self):
        for chaos in ({}, {"UNETSOCK_NET_CHAOS": CHAOS}):  # how much is carried is a matter of time
            self.assertIsNone(self.differs("matrix_calls", 5 if LONG else 1, "moves", "far", least=None, **chaos))

    def test_ends(self):
        self.assertIsNone(self.differs("end_calls", 5 if LONG else 1, "ends", "far"))

    def test_edges_of_copies(self):
        self.assertIsNone(self.differs("end_calls", 5 if LONG else 1, "copies", "far", least=2,
                                       UNETSOCK_NET_CHAOS="loss=0.1,reorder=0.1"))

    def test_wake_ups(self):
        self.assertIsNone(self.differs("wake_calls", 5 if LONG else 1, "far"))

    @unittest.skipUnless(LONG, "left out: what a set tells of, which is in the long test")
    def test_all_is_told_of(self):
        self.assertIsNone(self.differs("order_calls", 2, "far"))

    def test_exact_calls(self):
        self.assertIsNone(self.differs("exact_calls", 1, "far"))

    @unittest.skipUnless(LONG, "left out: calls of processes, which are in the long test")
    def test_process_calls(self):
        self.assertIsNone(self.differs("process_calls", 1, least=4))  # a fork takes most to TCP

    @unittest.skipUnless(LONG, "left out: kills, which are in the long test")
    def test_kills(self):
        done = subprocess.run([sys.executable, programs_test.__file__, str(BUILD.folder), "kills=100",
                               "Programs.test_killed_at_any_moment_looks_like_tcp"],
                              env=dict(os.environ, **self.environment), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=400, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    # ---- who may --------------------------------------------------------------------------

    def talk(self, server_key, client_key, seconds, code=CLIENT, seed=0, server_code=SERVER, server_ends=0, **more):
        """What --stats says at both ends of a connection between two processes; a key may be None: plain TCP."""
        def environment(key):
            return {**os.environ, **self.environment, "UNETSOCK_UPGRADE": "1", **more, "UNETSOCK_KEY": key or ""}

        def command(key, code, *words):
            return ([BUILD.unetsock, "--stats"] if key else []) + [sys.executable, "-c", LISTEN_ANYWHERE + code, *words]

        with (self.begin(command(server_key, server_code), environment(server_key)) as server,
              self.begin(command(client_key, code, server.stdout.readline().strip(), str(seconds), str(seed)),
                         environment(client_key)) as client):
            try:
                said, client_text = client.communicate(timeout=60)
                _, text = server.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                for hung in client, server:
                    os.killpg(hung.pid, signal.SIGKILL)
                raise
        self.assertEqual((said, server.returncode), ("ok\n", server_ends), client_text + text)
        return client_text, text

    @staticmethod
    def begin(command, environment):
        """In a group of its own, as unetsock runs the program as its child."""
        return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    def upgraded(self, *arguments):
        return sum(both.upgraded(text) for text in self.talk(*arguments))

    def test_of_one_key(self):
        talks = (self.upgraded(self.key, self.key, 1) for _ in range(10))  # the two may miss each other once
        self.assertTrue(any(upgraded > 0 for upgraded in talks))

    def test_of_different_keys(self):
        self.assertEqual(self.upgraded(self.key, self.make_key("another"), 0.3), 0)

    def test_a_plain_peer(self):
        self.assertEqual(self.upgraded(None, self.key, 0.1), 0)
        self.assertEqual(self.upgraded(self.key, None, 0.1), 0)

    def test_why_none_is_carried(self):
        for text in self.talk(self.key, self.make_key("another"), 0.3):
            self.assertIn("1  has a peer on another machine that did not answer: ", text)
            self.assertIn("another UNETSOCK_KEY", text)
        for code, server_code, nowhere in (CLIENT, NOWHERE + SERVER, 1), (NOWHERE + CLIENT, SERVER, 0):
            for _ in range(10):  # the two may miss each other
                texts = self.talk(self.key, self.key, 1, code, server_code=server_code)
                if "did not answer" not in texts[0] + texts[1]:
                    break
            self.assertIn("1  is with TCP since the network of --net cannot be opened here", texts[nowhere])
            self.assertIn("1  met its peer, but not by the network of --net", texts[1 - nowhere])

    def bursts(self, seeds, code=BURSTS, **more):
        """How many bytes were carried."""
        carried = 0
        for seed in seeds:
            for text in self.talk(self.key, self.key, 3 if LONG else 0.5, code, seed, **more):
                carried += int(re.search(r"by the rings (\d+) bytes", text).group(1))
        return carried

    def assert_carries(self, seeds, code=BURSTS, **more):
        """That one talk at least was carried: the two may miss each other, or find their cores busy."""
        carried = self.bursts(seeds, code, **more)
        for seed in range(1000, 1010):
            carried = carried or self.bursts([seed], code, **more)
        self.assertGreater(carried, 0)

    def test_bursts(self):
        for chaos in ({}, {"UNETSOCK_NET_CHAOS": CHAOS}):
            self.assert_carries(range(20 if LONG else 2), **chaos)

    # ---- streams, and who judges --------------------------------------------------------------

    def test_who_asks_for_space_is_answered_by_the_ring(self):
        for _ in range(10):  # the two may miss each other
            # Who did not spin for as long as the other one takes to wake up would leave all to TCP.
            _, server = self.talk(self.key, self.key, 0.5, SPACE, UNETSOCK_SPIN="1000")
            found = re.search(r"by the rings (\d+) bytes; upgraded, but by TCP (\d+)", server)
            if int(found.group(1)) > int(found.group(2)):
                return
        self.fail(server)

    # A message to one that sleeps wakes the library's thread, too, and is answered by a bell.
    def test_who_never_spins_is_left_to_tcp(self):
        for code in CLIENT, SPACE:  # who rests meanwhile, and who waits in a set
            for _ in range(5):  # the two may miss each other
                client, server = self.talk(self.key, self.key, 0.5, code, UNETSOCK_SPIN="0")
                if both.upgraded(client) and both.upgraded(server):
                    break
            for text in client, server:
                found = re.search(r"by the rings (\d+) bytes; upgraded, but by TCP (\d+)", text)
                self.assertGreater(int(found.group(2)), 20 * int(found.group(1)), text)

    def test_answers_of_a_round_share_packets(self):
        for chaos in ({}, {"UNETSOCK_NET_CHAOS": CHAOS}):
            shared = 0  # the two may miss each other, and rounds take long where much is lost or others use the machine
            for _ in range(40):
                # Beside busy programs who spins for less, and who judges by speed, would leave most to TCP.
                texts = self.talk(self.key, self.key, 5 if LONG else 0.5, ROUNDS, server_code=ROUND_SERVER,
                                  UNETSOCK_SPIN="1000", UNETSOCK_NET_JUDGE="0", **chaos)
                shared += int(re.search(r"(\d+) messages to other hosts waited", texts[1]).group(1))
                if shared > 10:
                    break
            self.assertGreater(shared, 10, texts)

    def test_what_was_sent_before_a_kill_is_read(self):
        carried = 0
        for unread in (0, 1) * (10 if LONG else 3):
            client, _ = self.talk(self.key, self.key, 0, KILLED, unread, KILLED_SERVER, server_ends=128 + 9)
            carried += int(re.search(r"by the rings (\d+) bytes", client).group(1))
        self.assertGreater(carried, 0)

    def test_a_peer_is_stopped(self):
        def talk():
            self.talk(self.key, self.key, 0, STOPPED, 0, STOPPED_SERVER, UNETSOCK_SPIN="100000")

        talk()
        if LONG:  # where others want the processors an end by TCP overtook what the ring had brought, one time in ten
            busy = [self.begin([sys.executable, "-c", "while True: pass"], os.environ) for _ in range(os.cpu_count())]
            try:
                for _ in range(30):
                    talk()
            finally:
                for process in busy:
                    process.kill()
                    process.communicate()

    def test_nothing_is_sent(self):
        self.assert_carries(range(4), NOTHING)

    # More of them at a time than there are processors, so that each is interrupted between any two steps.
    def test_edges(self):
        with concurrent.futures.ThreadPoolExecutor(8) as several:
            talks = [several.submit(self.talk, self.key, self.key, 20 if LONG else 2, EDGES, **chaos)
                     for chaos in 4 * [{}, {"UNETSOCK_NET_CHAOS": CHAOS}]]
        self.assertGreater(sum(both.upgraded(talk.result()[0]) for talk in talks), 0)

    def test_edges_of_space(self):
        with concurrent.futures.ThreadPoolExecutor(8) as several:
            talks = [several.submit(self.talk, self.key, self.key, 20 if LONG else 2, SPACE_EDGES, seed, **chaos)
                     for seed in range(4) for chaos in ({}, {"UNETSOCK_NET_CHAOS": CHAOS})]
        self.assertGreater(sum(both.upgraded(talk.result()[0]) for talk in talks), 0)

    def test_streams_between_answers(self):
        for chaos in ({}, {"UNETSOCK_NET_CHAOS": CHAOS}):
            self.assert_carries(range(20 if LONG else 2), STREAMS, server_code=STREAM_SERVER, **chaos)

    def test_hardly_anything_may_be_on_its_way(self):
        for window, chaos in of_networks("2", "5"):
            more = {**chaos, "UNETSOCK_NET_WINDOW": window}
            self.assert_carries(range(10 if LONG else 1), **more)
            self.assert_carries(range(10 if LONG else 1), CROWD, server_code=CROWD_SERVER, **more)
            self.assert_carries(range(10 if LONG else 1), STREAMS, server_code=STREAM_SERVER, **more)
            self.random_programs(range(1, 100 if LONG else 3), **more)

    # It rests: to sleep without it takes a look before and one after.
    def test_a_reader_of_bulk_rests(self):
        for _ in range(8):
            client, _ = self.talk(self.key, self.key, 0, ONE_STREAM, server_code=STREAM_SERVER)
            sleeps = int(re.search(r"(\d+) sleeps", client).group(1))
            if both.upgraded(client) and sleeps < 1200:
                return
        self.fail(client)

    def test_what_goes_one_way_is_not_met(self):
        talks = [self.talk(self.key, self.key, 0.5, ONE_WAY, server_code=ONE_WAY_SERVER, UNETSOCK_UPGRADE="")]
        self.assertEqual(sum(both.upgraded(text) for text in talks[0]), 0)
        talks = (self.talk(self.key, self.key, 1, UNETSOCK_UPGRADE="") for _ in range(10))
        self.assertTrue(any(both.upgraded(text) for talk in talks for text in talk))

    def test_the_verdict_changes(self):
        for reads, chaos in of_networks("7", "100"):
            more = {**chaos, "UNETSOCK_NET_JUDGE": reads}
            self.assert_carries(range(10 if LONG else 1), CROWD, server_code=CROWD_SERVER, **more)
            self.assert_carries(range(10 if LONG else 1), **more)
            self.assert_carries(range(10 if LONG else 2), STREAMS, server_code=STREAM_SERVER, **more)

    def test_the_verdict_is_tcp(self):
        # Until the other end has heard of it some are carried.
        self.assertLess(self.bursts(range(3), UNETSOCK_NET_JUDGE="tcp"), 10000)

    def test_nobody_wakes_when_paths_have_died(self):
        for dies in range(300, 330 if LONG else 301):
            self.talk(self.key, self.key, 0, IDLE, 0, IDLE_SERVER, UNETSOCK_NET_DIES=str(dies))

    # A path may die before it has carried a byte, but not each time.
    def test_bursts_while_the_path_dies(self):
        self.assertGreater(sum(
            self.bursts(range(10 if LONG else 2), UNETSOCK_NET_CHAOS=CHAOS, UNETSOCK_NET_DIES=str(dies))
            for dies in ((1, 2, 3, 20, 77, 150, 400) if LONG else (3, 77))), 0)

    def dies_while_deaf(self, how):
        # The two may miss each other; the path may die too soon, or, where the machine is busy, be of little use.
        for dies in (1000, 1000, 500, 500, 200, 200, 50, 50):
            client, _ = self.talk(self.key, self.key, 0, DEAF, how, UNETSOCK_NET_DIES=str(dies))
            if "the path between the hosts died" in client and not re.search("by the rings 0 bytes", client):
                return
        self.fail(client)

    def test_the_path_dies_and_the_word_of_it_comes_late(self):
        with concurrent.futures.ThreadPoolExecutor(3) as together:  # each is deaf for seconds
            for ended in [together.submit(self.dies_while_deaf, how) for how in (0, 1, 2, 3, 4, 4, 4)]:
                ended.result()

    def crowd(self, seeds, **more):
        return self.bursts(seeds, CROWD, server_code=CROWD_SERVER, **more)

    def test_many_connections(self):
        self.assert_carries(range(20 if LONG else 3), CROWD, server_code=CROWD_SERVER)
        self.assert_carries(range(20 if LONG else 2), CROWD, server_code=CROWD_SERVER, UNETSOCK_NET_CHAOS=CHAOS)

    def test_many_connections_while_the_path_dies(self):
        self.assertGreater(sum(
            self.crowd(range(10 if LONG else 2), UNETSOCK_NET_CHAOS=CHAOS, UNETSOCK_NET_DIES=str(dies))
            for dies in ((1, 20, 150, 1000, 5000) if LONG else (150, 5000))), 0)

    def connected(self, ports):
        """A connection to one of some ports of this machine, at which somebody listens soon."""
        deadline = time.monotonic() + 10
        for port in itertools.cycle(ports):
            try:
                s = socket.create_connection(("127.0.0.1", port), 20)
            except ConnectionRefusedError:
                self.assertLess(time.monotonic(), deadline)
                continue
            if s.getsockname() != s.getpeername():
                return s
            s.close()  # TCP lets a socket connect to itself where nobody listens

    def hello(self, right):
        """Who knows at which port a connection's ends meet says hello there, with the right proof or a wrong one.
        Returns how much of an answer comes; the connection itself, from a plain client, is never harmed."""
        digits = pathlib.Path(self.key).read_text(encoding="ascii")
        key = int(digits[:16], 16), int(digits[16:32], 16)
        environment = {**os.environ, **self.environment, "UNETSOCK_UPGRADE": "1"}
        with subprocess.Popen([BUILD.unetsock, sys.executable, "-c", LISTEN_ANYWHERE + SERVER], env=environment,
                              text=True, stdout=subprocess.PIPE) as server:
            port = int(server.stdout.readline())
            with socket.create_connection(("127.0.0.1", port), 20) as s:
                ends = b"".join(bytes(10) + b"\xff\xff" + socket.inet_aton(host) + struct.pack(">H", number)
                                for host, number in (s.getsockname(), s.getpeername()))
                s.sendall(b"one")
                self.assertEqual(s.recv(3), b"one")
                nonce = struct.pack("<QQ", 1, 2)
                process = struct.pack("<Q", 7)
                said = ends + struct.pack("<I", 1) + nonce + bytes(16) + process + bytes(40 + 2 * 68)
                proof = siphash(key, said) ^ (0 if right else 1)
                meet = siphash((key[0], ~key[1] & MASK), ends)
                with self.connected([49152 + (meet >> 16 * i) % 16384 for i in range(4)]) as control:
                    greeting = siphash(key, ends + bytes(220))
                    self.assertEqual(control.recv(8, socket.MSG_WAITALL), struct.pack("<Q", greeting))
                    control.sendall(struct.pack("<Q", MAGIC) + nonce + process + struct.pack("<Q", proof))
                    answer = control.recv(1000)
                    control.sendall(bytes(88))  # no proof
                    while control.recv(1000):
                        pass
                for i in range(50):
                    s.sendall(bytes([i]) * 7)
                    self.assertEqual(s.recv(7, socket.MSG_WAITALL), bytes([i]) * 7)
            self.assertEqual(server.wait(20), 0)
        return len(answer)

    def test_forgers(self):
        self.assertEqual(self.hello(right=True), 128)
        self.assertEqual(self.hello(right=False), 0)

    # ---- the program unetsock -----------------------------------------------------------------

    def test_keys(self):
        said = self.front("--net", "udp", "true", key=str(self.folder / "none"))
        self.assertEqual(said.returncode, 2)
        self.assertIn("make it with 'unetsock --make-key'", said.stderr)
        os.chmod(self.key, 0o644)
        said = self.front("--net", "udp", "true")
        self.assertEqual(said.returncode, 2)
        self.assertIn("chmod 600", said.stderr)
        os.chmod(self.key, 0o600)
        self.assertEqual(self.front("--net", "udp", "--stats", "true").returncode, 0)
        said = self.front("--make-key")
        self.assertEqual(said.returncode, 1)
        self.assertIn("copy that one to the other hosts, or remove it first", said.stderr)
        with open(self.key, "w", encoding="ascii") as file:
            file.write("x" * 32)
        self.assertIn("is no key", self.front("--net", "udp", "true").stderr)

    def test_networks(self):
        said = self.front("--net", "shm", "true")
        self.assertEqual(said.returncode, 2)
        self.assertIn("it takes udp, eth or fe", said.stderr)

    def test_a_network_that_cannot_be_opened_is_told_of_once(self):
        os.environ["UNET_INTERFACE"] = "nosuch"
        self.addCleanup(os.environ.pop, "UNET_INTERFACE")
        said = self.front("--net", "udp", "echo", "on")
        self.assertEqual((said.returncode, said.stdout), (0, "on\n"), said.stderr)
        self.assertEqual(len(said.stderr.splitlines()), 1, said.stderr)
        self.assertIn("the network 'udp' cannot be opened at UNET_INTERFACE=nosuch: ", said.stderr)
        os.environ["UNET_INTERFACE"] = "127.0.0.1"
        self.assertEqual(self.front("--net", "udp", "true").stderr, "")


if __name__ == "__main__":
    BUILD = both.Build(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[2:] if word != "long")])
