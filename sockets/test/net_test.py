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

BUILD = None
LONG = "long" in sys.argv[2:]  # before the classes, which ask it
STEPS = 300
CHAOS = "loss=0.2,dup=0.05,reorder=0.1"
SERVER = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
s = listener.accept()[0]
while data := s.recv(100000):
    s.sendall(data)
"""
CLIENT = """
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
until = time.monotonic() + float(sys.argv[2])
turns = 0
while turns < 50 or time.monotonic() < until:
    data = bytes(range(turns % 250 + 1))
    s.sendall(data)
    while data:
        got = s.recv(len(data))
        assert got and data.startswith(got), (data, got)
        data = data[len(got):]
    turns += 1
print("ok")
"""

# Bursts of short writes, which are carried, and of long ones, which are not, in any order.
BURSTS = """
import random, socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(30)
until = time.monotonic() + float(sys.argv[2])
chance = random.Random(int(sys.argv[3]))
at = turns = 0
stream = bytes(range(251)) * 400
while turns < 50 or time.monotonic() < until:
    begin = at % 251
    length = 0
    for _ in range(chance.randint(1, 4)):
        n = chance.choice((1, 8, 100, chance.randint(1, 1280), chance.randint(1281, 9000)))
        s.sendall(stream[(begin + length) % 251:][:n])
        length += n
    have = 0
    while have < length:
        got = s.recv(length - have)
        assert got and got == stream[(begin + have) % 251:][:len(got)], (turns, have, length, len(got))
        have += len(got)
    at += length
    turns += 1
print("ok")
"""

# Asks epoll for space, sends, and asks for data, as redis-benchmark does.
SPACE = """
import select, socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
who = select.epoll()
who.register(s, select.EPOLLOUT)
until = time.monotonic() + float(sys.argv[2])
turns = 0
while turns < 1000 or time.monotonic() < until:
    assert who.poll(30)
    s.sendall(b"question")
    who.modify(s, select.EPOLLIN)
    assert who.poll(30) and s.recv(100) == b"question"
    who.modify(s, select.EPOLLOUT)
    turns += 1
print("ok")
"""

# Sends what it is asked for, and asks between two of these, so that its reader, which waits for all of them, begins to
# rest and ends it, again and again.
STREAM_SERVER = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
s = listener.accept()[0]
stream = bytes(range(251)) * 40
while asked := s.recv(4, socket.MSG_WAITALL):
    left = int.from_bytes(asked, "little")
    while left:
        n = min(left, 1000)
        s.sendall(stream[-left % 251:][:n])
        left -= n
        sum(range(500 if left > 1000 else 0))
"""
STREAMS = """
import random, socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(None)
until = time.monotonic() + float(sys.argv[2])
chance = random.Random(int(sys.argv[3]))
stream = bytes(range(251)) * 1200
turns = 0
while turns < 100 or time.monotonic() < until:
    length = chance.choice((8, 100, 1000, 1000, 1000, 300000))
    s.sendall(length.to_bytes(4, "little"))
    have = 0
    while have < length:
        got = s.recv(length - have)
        assert got and got == stream[(have - length) % 251:][:len(got)], (turns, have, length, len(got))
        have += len(got)
    turns += 1
print("ok")
"""
# One of many writes to a reader that is quicker.
ONE_STREAM = """
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for _ in range(100):
    s.sendall((100).to_bytes(4, "little"))
    assert len(s.recv(100, socket.MSG_WAITALL)) == 100
s.sendall((40000000).to_bytes(4, "little"))
left = 40000000
while left:
    left -= len(s.recv(left))
print("ok")
"""

# The path dies, and the connection on which the link falls back is deaf for some seconds: a filter drops all that comes
# for it, as if TCP's pauses between tries had become long.  What the other end then says by TCP is here sooner than the
# word that it has left the ring.
DEAF = """
import ctypes, os, select, socket, struct, sys, threading, time
DEAF = 3
libc = ctypes.CDLL("libc.so.6")
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
stream = bytes(range(251)) * 40
how = int(sys.argv[3])
who = select.epoll()
if how == 1:
    s.settimeout(40)
elif how == 3:
    who.register(s, select.EPOLLIN | select.EPOLLET)
elif how > 1:
    who.register(s, select.EPOLLIN)
def wait():
    if how < 4:
        return who.poll(40)
    until = time.monotonic() + 40
    told = []
    while not told and (began := time.monotonic()) < until:
        told = who.poll(0)
        assert time.monotonic() - began < DEAF / 3
        time.sleep(0.0002)  # as a program that has other work, too
    return told
def turn(at):
    n = 1 + at % 3000
    s.sendall(stream[at % 251:][:n])
    got = b""
    while len(got) < n:
        if how > 1:
            assert wait()
        piece = s.recv(n - len(got))
        assert piece
        got += piece
    assert got == stream[at % 251:][:n]
def is_control(fd):
    name, kind = ctypes.create_string_buffer(128), ctypes.c_int()
    size, four = ctypes.c_uint32(128), ctypes.c_uint32(4)
    return (libc.getpeername(fd, name, ctypes.byref(size)) == 0 and name.raw[:2] == struct.pack("H", socket.AF_INET) and
            libc.getsockopt(fd, socket.SOL_SOCKET, socket.SO_TYPE, ctypes.byref(kind), ctypes.byref(four)) == 0 and
            kind.value == socket.SOCK_STREAM)
def find_control():
    fds = {int(name) for name in os.listdir("/proc/self/fd")} - {s.fileno()}
    return max((fd for fd in fds if is_control(fd)), default=None)
def hear(fd, option):
    drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(drop)))
    assert libc.setsockopt(fd, socket.SOL_SOCKET, option, program, len(program) - 1) == 0
at = 0
control = None
while at < 3000 and control is None:
    turn(at)
    at += 1
    control = find_control() if at % 20 == 0 else None
if control is not None:
    for at in range(at, at + 100):
        turn(at)
    hear(control, 26)  # SO_ATTACH_FILTER
    threading.Timer(DEAF, hear, (control, 27)).start()
until = time.monotonic() + DEAF + 1
while control is not None and time.monotonic() < until:
    turn(at)
    at += 1
print("ok")
"""

# Waits for edges, of which a bell's may come before the carrier's word of it.
EDGES = """
import select, socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
until = time.monotonic() + float(sys.argv[2])
who = select.epoll()
who.register(s, select.EPOLLIN | select.EPOLLET)
stream = bytes(range(251)) * 40
at = 0
while at < 300 or time.monotonic() < until:
    n = 1 + at * 7 % 3000
    s.sendall(stream[at % 251:][:n])
    got = b""
    while len(got) < n:
        assert who.poll(20), (at, len(got), n)
        piece = s.recv(n - len(got))
        assert piece
        got += piece
    assert got == stream[at % 251:][:n]
    at += 1
print("ok")
"""

# Is stopped by its peer, which it tells who it is.
STOPPED_SERVER = """
import os, socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
s = listener.accept()[0]
s.sendall(os.getpid().to_bytes(4, "little"))
while data := s.recv(100000):
    s.sendall(data)
"""
# The last word of the ring is on its way when the other end is stopped: who then sends more than that takes sleeps, for
# as long as it wants, or until a signal comes.
STOPPED = """
import os, signal, socket, struct, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
server = int.from_bytes(s.recv(4, socket.MSG_WAITALL), "little")
def echo(n):
    s.sendall(bytes(n))
    assert len(s.recv(n, socket.MSG_WAITALL)) == n
def interrupted(number, frame):
    raise InterruptedError
def until_full():
    sent, end, used = 0, time.monotonic(), time.process_time()
    try:
        while True:
            sent += s.send(bytes(4 << 20))
    except (BlockingIOError, InterruptedError) as error:
        return sent, type(error), time.monotonic() - end, time.process_time() - used
signal.signal(signal.SIGALRM, interrupted)
for _ in range(200):
    echo(100)
for how in (0, 1) * 4:
    for _ in range(20):
        echo(100)
    echo(5000)
    time.sleep(0.01)  # the other end says that it has taken that, and spins
    os.kill(server, signal.SIGSTOP)
    while open(f"/proc/{server}/stat").read().split(")")[1].split()[0] != "T":
        pass
    sent = s.send(bytes(100))
    if how == 0:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 200000))
    else:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
    more, error, took, used = until_full()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 0))
    os.kill(server, signal.SIGCONT)
    assert error == (BlockingIOError, InterruptedError)[how], (how, error)
    assert took < 3 and used < took / 4, (how, took, used)
    if how == 0:
        left = sent + more
        while left:
            left -= len(s.recv(left))
    else:  # the call that was interrupted may have sent some
        s.settimeout(0.3)
        try:
            while True:
                s.recv(1 << 20)
        except TimeoutError:
            s.settimeout(None)
s.shutdown(socket.SHUT_WR)
assert not s.recv(1)
print("ok")
"""

# Nothing is sent behind what the other end is to be woken for.
NOTHING = """
import os, socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(20)
file = os.memfd_create("empty")
for at in range(20000):
    s.sendall(bytes(100))
    if at % 2:
        s.send(b"")
    else:
        os.sendfile(s.fileno(), file, 0, 0)
    got = 0
    while got < 100:
        piece = s.recv(100 - got)
        assert piece
        got += len(piece)
print("ok")
"""

# Never blocks, and hears of space by edges alone: who was refused although TCP has space waits for one.
SPACE_EDGES = """
import random, select, socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.setblocking(False)
until = time.monotonic() + float(sys.argv[2])
chance = random.Random(int(sys.argv[3]))
who = select.epoll()
who.register(s, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
stream = bytes(range(251)) * 400
at = turns = refused = 0
while turns < 100 or time.monotonic() < until:
    begin = at % 251
    length = sum(chance.choice((1, 8, 100, 1280, 9000)) for _ in range(chance.randint(1, 4)))
    sent = have = 0
    while have < length:
        moved = False
        try:
            n = s.send(stream[(begin + sent) % 251:][:min(length - sent, chance.randint(1, 9000))]) if sent < length else 0
            sent += n
            moved = n > 0
        except BlockingIOError:
            refused += 1
        try:
            got = s.recv(length - have)
            assert got and got == stream[(begin + have) % 251:][:len(got)], (turns, have, length, len(got))
            have += len(got)
            moved = True
        except BlockingIOError:
            pass
        assert moved or who.poll(10), (turns, sent, have, length, refused)
    at += length
    turns += 1
print("ok")
"""

# Nothing comes back before the end.
ONE_WAY_SERVER = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
s = listener.accept()[0]
while s.recv(100):
    pass
s.sendall(b"seen")
"""
ONE_WAY = """
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    s.sendall(bytes(100))
s.shutdown(socket.SHUT_WR)
assert s.recv(4) == b"seen"
print("ok")
"""

# Answers several connections in one round, and stays in it after some answers until their reader says by other means
# that it has them.
ROUND_SERVER = """
import selectors, socket
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind(f"\\0unetsock round {port}")
heard.settimeout(20)
print(port, flush=True)
who = selectors.EpollSelector()
for _ in range(8):
    who.register(listener.accept()[0], selectors.EVENT_READ)
while who.get_map():
    for key, _ in who.select(30):
        data = key.fileobj.recv(100)
        if not data:
            who.unregister(key.fileobj)
        else:
            key.fileobj.sendall(data)
            assert data != b"waits" or heard.recv(10)
"""
ROUNDS = """
import selectors, socket, sys, time
port = int(sys.argv[1])
says = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
says.connect(f"\\0unetsock round {port}")
all = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
who = selectors.EpollSelector()
for s in all:
    who.register(s, selectors.EVENT_READ)
until = time.monotonic() + float(sys.argv[2])
turns = 0
while turns < 200 or time.monotonic() < until:
    for at, s in enumerate(all):
        s.sendall(b"waits" if turns % 16 == 15 and at == turns // 16 % 8 else b"question")
    left = 8
    while left:
        found = who.select(30)
        assert found, (turns, left)
        for key, _ in found:
            answer = key.fileobj.recv(100)
            assert answer in (b"waits", b"question"), answer
            if answer == b"waits":
                says.send(b"heard")
            left -= 1
    turns += 1
print("ok")
"""

# Is killed when it has sent something that nobody has read yet, and has not read all itself.
KILLED_SERVER = """
import os, signal, socket
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
end = socket.socket(socket.AF_UNIX)
end.bind(f"\\0unetsock end {port}")
end.listen()
print(port, flush=True)
s = listener.accept()[0]
lives = end.accept()[0]
for _ in range(200):
    s.sendall(s.recv(100))
while s.recv(1) != b"!":
    pass
for at in range(3):  # before an acknowledgement has to come
    s.sendall(bytes([at]))
os.kill(os.getpid(), signal.SIGKILL)
"""
KILLED = """
import socket, sys
port = int(sys.argv[1])
s = socket.create_connection(("127.0.0.1", port))
end = socket.socket(socket.AF_UNIX)
end.connect(f"\\0unetsock end {port}")
for _ in range(200):
    s.sendall(b"question")
    assert s.recv(100) == b"question"
s.sendall(b"!" + (b"unread" if sys.argv[3] == "1" else b""))
assert end.recv(1) == b""
got = b""
try:
    while piece := s.recv(100):
        got += piece
    how = "end"
except ConnectionResetError:
    how = "reset"
assert got == bytes(range(3)), (got, how)
print("ok")
"""

# Answers two processes, with which it shares a core, in rounds until their paths have died, and then counts how often
# its threads wake.
IDLE_SERVER = """
import os, selectors, socket, time
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
who = selectors.EpollSelector()
for _ in range(2):
    who.register(listener.accept()[0], selectors.EVENT_READ)
def wakes():
    tasks = [open(f"/proc/self/task/{task}/status").read() for task in os.listdir("/proc/self/task")]
    return sum(int(task.split("\\nvoluntary_ctxt_switches:")[1].split()[0]) for task in tasks)
while found := who.select(1.5):
    for key, _ in found:
        key.fileobj.sendall(key.fileobj.recv(100))
before = wakes()
time.sleep(1)
assert wakes() - before < 300, wakes() - before
"""
IDLE = """
import os, socket, sys
if os.environ.pop("UNETSOCK_NET_DIES", None):
    os.execv(sys.executable, sys.orig_argv)
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
os.fork()
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for _ in range(1000):
    s.sendall(b"question")
    assert s.recv(100) == b"question"
assert s.recv(1) == b""
try:
    os.wait()
    print("ok")
except ChildProcessError:
    pass
"""

# The same on several connections at a time, some of which end while the others go on, and then begin anew; a fork in
# between takes all that are there from the network.
CROWD_SERVER = """
import selectors, socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
who = selectors.DefaultSelector()
who.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in who.select(30):
        if key.fileobj is listener:
            who.register(listener.accept()[0], selectors.EVENT_READ)
        elif data := key.fileobj.recv(100000):
            key.fileobj.sendall(data)
        else:
            who.unregister(key.fileobj)
            key.fileobj.close()
    if len(who.get_map()) == 1:
        break
"""
CROWD = """
import os, random, selectors, socket, sys, time
until = time.monotonic() + float(sys.argv[2])
chance = random.Random(int(sys.argv[3]))
stream = bytes(range(251)) * 400
who = selectors.DefaultSelector()
class One:
    def __init__(self):
        self.s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        self.s.settimeout(30)
        who.register(self.s, selectors.EVENT_READ, self)
        self.at = self.have = self.length = self.turns = 0
        self.last = chance.choice((30, 300, 1 << 30))
        self.burst()
    def burst(self):
        self.have = self.length = 0
        for _ in range(chance.randint(1, 3)):
            n = chance.choice((1, 8, 100, chance.randint(1, 1280), chance.randint(1281, 5000)))
            self.s.sendall(stream[(self.at + self.length) % 251:][:n])
            self.length += n
    def take(self):
        got = self.s.recv(self.length - self.have)
        assert got and got == stream[(self.at + self.have) % 251:][:len(got)], (self.turns, self.have, len(got))
        self.have += len(got)
        if self.have < self.length:
            return True
        self.at = (self.at + self.length) % 251
        self.turns += 1
        if self.turns >= self.last or time.monotonic() >= until:
            who.unregister(self.s)
            self.s.close()
            return False
        self.burst()
        return True
living = [One() for _ in range(6)]
child = 0
while living:
    ready = who.select(30)
    assert ready
    for key, _ in ready:
        if not key.data.take():
            living.remove(key.data)
            if time.monotonic() < until:
                living.append(One())
    if chance.random() < 0.0002 and (child := os.fork()) == 0:
        os._exit(0)
    elif child:
        assert os.waitpid(child, 0)[1] == 0
        child = 0
print("ok")
"""

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
            return exact_test.differs(BUILD, program, turns, least, words)
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

        def command(key, *words):
            return ([BUILD.unetsock, "--stats"] if key else []) + [sys.executable, "-c", *words]

        with subprocess.Popen(command(server_key, server_code), env=environment(server_key), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
            port = server.stdout.readline().strip()
            client = subprocess.run(command(client_key, code, port, str(seconds), str(seed)), text=True,
                                    env=environment(client_key), timeout=60, check=False,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            _, text = server.communicate(timeout=20)
        self.assertEqual((client.stdout, server.returncode), ("ok\n", server_ends), client.stderr + text)
        return client.stderr, text

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

    def bursts(self, seeds, code=BURSTS, **more):
        """How many bytes were carried."""
        carried = 0
        for seed in seeds:
            for text in self.talk(self.key, self.key, 3 if LONG else 0.5, code, seed, **more):
                carried += int(re.search(r"by the rings (\d+) bytes", text).group(1))
        return carried

    def test_bursts(self):
        for chaos in ({}, {"UNETSOCK_NET_CHAOS": CHAOS}):
            self.assertGreater(self.bursts(range(20 if LONG else 2), **chaos), 0)

    # ---- streams, and who judges --------------------------------------------------------------

    def test_who_asks_for_space_is_answered_by_the_ring(self):
        for _ in range(5):  # the two may miss each other
            _, server = self.talk(self.key, self.key, 0.5, SPACE)
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
            for _ in range(5):  # the two may miss each other, and rounds take long where others use the machine
                texts = self.talk(self.key, self.key, 5 if LONG else 0.5, ROUNDS, server_code=ROUND_SERVER, **chaos)
                shared = [int(re.search(r"(\d+) messages to other hosts waited", text).group(1)) for text in texts]
                if shared[1] > 10:
                    break
            else:
                self.fail(texts)

    def test_what_was_sent_before_a_kill_is_read(self):
        carried = 0
        for unread in (0, 1) * (10 if LONG else 3):
            client, _ = self.talk(self.key, self.key, 0, KILLED, unread, KILLED_SERVER, server_ends=128 + 9)
            carried += int(re.search(r"by the rings (\d+) bytes", client).group(1))
        self.assertGreater(carried, 0)

    def test_a_peer_is_stopped(self):
        for seed in range(10 if LONG else 1):
            self.talk(self.key, self.key, 0, STOPPED, seed, STOPPED_SERVER, UNETSOCK_SPIN="100000")

    def test_nothing_is_sent(self):
        self.assertGreater(self.bursts(range(4), NOTHING), 0)

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
            carried = self.bursts(range(20 if LONG else 2), STREAMS, server_code=STREAM_SERVER, **chaos)
            self.assertGreater(carried, 0)

    def test_hardly_anything_may_be_on_its_way(self):
        for window in ("2", "5"):
            for chaos in ({}, {"UNETSOCK_NET_CHAOS": CHAOS}):
                more = {**chaos, "UNETSOCK_NET_WINDOW": window}
                self.assertGreater(self.bursts(range(10 if LONG else 1), **more), 0)
                self.assertGreater(self.crowd(range(10 if LONG else 1), **more), 0)
                self.assertGreater(self.bursts(range(10 if LONG else 1), STREAMS, server_code=STREAM_SERVER, **more), 0)
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
        for reads in ("7", "100"):
            for chaos in ({}, {"UNETSOCK_NET_CHAOS": CHAOS}):
                more = {**chaos, "UNETSOCK_NET_JUDGE": reads}
                self.assertGreater(self.crowd(range(10 if LONG else 1), **more), 0)
                self.assertGreater(self.bursts(range(10 if LONG else 1), **more), 0)
                self.assertGreater(self.bursts(range(10 if LONG else 2), STREAMS, server_code=STREAM_SERVER, **more), 0)

    def test_the_verdict_is_tcp(self):
        # Until the other end has heard of it some are carried.
        self.assertLess(self.bursts(range(3), UNETSOCK_NET_JUDGE="tcp"), 10000)

    def test_nobody_wakes_when_paths_have_died(self):
        for dies in range(300, 330 if LONG else 303):
            self.talk(self.key, self.key, 0, IDLE, 0, IDLE_SERVER, UNETSOCK_NET_DIES=str(dies))

    # A path may die before it has carried a byte, but not each time.
    def test_bursts_while_the_path_dies(self):
        self.assertGreater(sum(
            self.bursts(range(10 if LONG else 2), UNETSOCK_NET_CHAOS=CHAOS, UNETSOCK_NET_DIES=str(dies))
            for dies in ((1, 2, 3, 20, 77, 150, 400) if LONG else (3, 77))), 0)

    def dies_while_deaf(self, how):
        for _ in range(8):  # the two may miss each other, or the path may die too soon
            client, _ = self.talk(self.key, self.key, 0, DEAF, how, UNETSOCK_NET_DIES="1000")
            if "the path between the hosts died" in client and not re.search("by the rings 0 bytes", client):
                return
        self.fail(client)

    def test_the_path_dies_and_the_word_of_it_comes_late(self):
        with concurrent.futures.ThreadPoolExecutor() as together:  # each is deaf for seconds
            for ended in [together.submit(self.dies_while_deaf, how) for how in (0, 1, 2, 3, 4, 4, 4)]:
                ended.result()

    def crowd(self, seeds, **more):
        return self.bursts(seeds, CROWD, server_code=CROWD_SERVER, **more)

    def test_many_connections(self):
        self.assertGreater(self.crowd(range(20 if LONG else 3)), 0)
        self.assertGreater(self.crowd(range(20 if LONG else 2), UNETSOCK_NET_CHAOS=CHAOS), 0)

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
        with subprocess.Popen([BUILD.unetsock, sys.executable, "-c", SERVER], env=environment, text=True,
                              stdout=subprocess.PIPE) as server:
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


if __name__ == "__main__":
    BUILD = both.Build(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[2:] if word != "long")])
