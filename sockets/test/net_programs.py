# SPDX-License-Identifier: BSD-3-Clause
"""net_programs.py: the programs that net_test.py runs at the two ends of a connection.  A server says its port and
ends with its clients; a client gets the port, for how many seconds it is to go on, and a seed or another number, and
says ok if all was as over TCP."""

# At a port that the kernel gives no connection, and at which no ends of connections between hosts meet: those of another
# test would come to it.
LISTEN_ANYWHERE = """
def listen_anywhere():
    import errno, random, socket
    for turn in range(100):
        try:
            return socket.create_server(("127.0.0.1", random.SystemRandom().randrange(10000, 30000)))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    raise SystemExit("no port is free")
"""

SERVER = """
import socket, sys
listener = listen_anywhere()
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

# In front of one of them: its network is nowhere.
NOWHERE = """
import os
os.environ["UNET_INTERFACE"] = "nosuch"
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
listener = listen_anywhere()
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
listener = listen_anywhere()
print(listener.getsockname()[1], flush=True)
s = listener.accept()[0]
s.sendall(os.getpid().to_bytes(4, "little"))
while data := s.recv(100000):
    s.sendall(data)
"""
# The last word of the ring is on its way when the other end is stopped: who then sends more than that takes sleeps, for
# as long as it wants, until a signal comes, or until another thread ends what it sends.
STOPPED = """
import os, signal, socket, struct, sys, threading, time
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
    except (BlockingIOError, InterruptedError, BrokenPipeError) as error:
        return sent, type(error), time.monotonic() - end, time.process_time() - used
signal.signal(signal.SIGALRM, interrupted)
for _ in range(200):
    echo(100)
def state(of):
    return open(f"/proc/{of}/stat").read().split(")")[1].split()[0]
def shut_when_asleep():
    for _ in range(20):  # not for a moment only
        while state(os.getpid()) != "S":
            pass
        time.sleep(0.01)
    s.shutdown(socket.SHUT_WR)
def stop_it():
    for _ in range(20):
        echo(100)
    echo(5000)
    time.sleep(0.01)  # the other end says that it has taken that, and spins
    os.kill(server, signal.SIGSTOP)
    while state(server) != "T":
        pass
    return s.send(bytes(100))
for how in (0, 1) * 4:
    sent = stop_it()
    if how == 0:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 200000))
    else:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
    more, error, took, used = until_full()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 0))
    os.kill(server, signal.SIGCONT)
    assert error == (BlockingIOError, InterruptedError)[how], (how, error)
    assert took < 3 and used < took * 3 / 4, (how, took, used)
    left = sent + more if how == 0 else 0  # the call that was interrupted may have sent more
    while left:
        piece = s.recv(left)
        assert piece
        left -= len(piece)
    piece = b""
    s.sendall(b"!")
    while piece[-1:] != b"!":
        piece = s.recv(1 << 20)
        assert piece
left = stop_it()
other = threading.Thread(target=shut_when_asleep)
other.start()
more, error, took, used = until_full()
left += more
other.join()
os.kill(server, signal.SIGCONT)
assert error == BrokenPipeError and took < 20, (error, took)
while piece := s.recv(1 << 20):
    left -= len(piece)
assert left == 0, left
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
            piece = stream[(begin + sent) % 251:][:min(length - sent, chance.randint(1, 9000))]
            n = s.send(piece) if sent < length else 0
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
listener = listen_anywhere()
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
listener = listen_anywhere()
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
listener = listen_anywhere()
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
listener = listen_anywhere()
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
listener = listen_anywhere()
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
