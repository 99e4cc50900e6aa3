#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""exact_test.py BUILD_FOLDER: blocking, signals, forks, deaths, passed descriptors, sets of epoll and the rest look
the same over plain TCP and over unetsock, whenever connections are upgraded."""
import difflib
import errno
import itertools
import os
import pathlib
import re
import resource
import subprocess
import sys

import both


NOTHING_TESTED = "hardly any connection was upgraded: this test has tested nothing"


def differs(build, program, turns, least=20, words=()):
    """What a program, with some arguments, says otherwise than over plain TCP, or None.  Fewer connections upgraded
    than `least`, if any, say that nothing was tested."""
    command = [build.program(program), *words]
    plain = build.run(command)
    if plain.returncode != 0:
        return f"over plain TCP: exit {plain.returncode}\n{plain.stdout}\n{plain.stderr}"
    for mode in both.MODES * turns:
        ours = build.run(command, mode, stats=True)
        if ours.returncode != 0 or ours.stdout != plain.stdout:
            return "\n".join([f"UNETSOCK_UPGRADE={mode}: exit {ours.returncode}",
                              *difflib.unified_diff(plain.stdout.splitlines(),
                                                    ours.stdout.splitlines(), "TCP", "unetsock",
                                                    lineterm=""), ours.stderr])
        if least is None:
            continue
        if both.upgraded(ours.stderr) < least or " by the rings 0 bytes" in ours.stderr:
            return f"{NOTHING_TESTED}\n{ours.stderr}"
    return None


# Two processes that never spin ask and answer; then the one that is waited for is killed.  Before, others may have had
# for a while what is waited for.  Each has its own core: on one, who is woken by TCP preempts the sender, sees that
# it sends, and sleeps on TCP again.
ASLEEP = """
import ctypes, os, select, signal, socket, sys

def waiting(s):
    if sys.argv[1] == "epoll":
        waiter = select.epoll()
        waiter.register(s, select.EPOLLIN)
    elif sys.argv[1] == "edges":
        waiter = select.epoll()
        waiter.register(s, select.EPOLLIN | select.EPOLLET)
    elif sys.argv[1] == "poll":
        waiter = select.poll()
        waiter.register(s, select.POLLIN)
    elif sys.argv[1] == "select":
        return lambda: select.select([s], [], [])
    else:
        return lambda: None
    return waiter.poll

CLONE = 56 # of x86-64

def leave(how, *files):
    child = ctypes.CDLL(None).syscall(CLONE, signal.SIGCHLD, 0, 0, 0, 0) if how == "clone" else os.fork()
    if child > 0:
        os.waitpid(child, 0)
    elif how in ("_exit", "clone"):
        if how == "clone":
            files[0].close()
        os._exit(0)
    elif how == "exit":
        sys.exit(0)
    elif how == "exec":
        os.execv("/bin/true", ["true"])
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "close":
        for file in files:
            file.close()
        os.kill(os.getpid(), signal.SIGKILL)

how = sys.argv[2] if len(sys.argv) > 2 else None
cores = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, cores[:1])
listener = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if child == 0:
    os.sched_setaffinity(0, cores[-1:])
    s = listener.accept()[0]
    wait = waiting(s)
    wait()
    while data := s.recv(100):
        s.sendall(data)
        if data == b"last":
            s.recv(100)
            signal.pause()
        wait()
s = socket.create_connection(listener.getsockname())
wait = waiting(s)
for turn in range(500):
    if turn == 20 and how in ("_exit", "exit", "exec", "kill", "close", "clone"):
        leave(how, s, *([wait.__self__] if sys.argv[1] == "epoll" else []))
    s.sendall(b"%d" % turn)
    wait()
    assert s.recv(100) == b"%d" % turn, turn
s.sendall(b"last")
wait()
assert s.recv(100) == b"last"
if os.fork() == 0:
    while open(f"/proc/{os.getppid()}/stat").read().rsplit(")")[1].split()[0] != "S":
        pass
    os.kill(child, signal.SIGKILL)
    os._exit(0)
wait()
print(s.recv(100))
"""


def is_filtered():
    """Whether system calls are filtered, so that unetsock makes but those that programs make, too."""
    return "\nSeccomp:\t0\n" not in pathlib.Path("/proc/self/status").read_text("ascii")


def limit_descriptors():
    """As of servers that set the hard limit, too."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))


def sleeps_by_tcp(build):
    """How sleepers are woken that TCP would not have to wake, or None: as they should be."""
    if len(os.sched_getaffinity(0)) < 2:
        print("left out: what wakes sleepers (it takes two cores)")
        return None
    cases = [(*case, False) for case in itertools.product(both.MODES, ("recv", "epoll", "edges", "poll", "select"))]
    left = [("1", f"{how} {end}", False)
            for how in ("recv", "epoll", "poll") for end in ("_exit", "exit", "exec", "kill", "close", "clone")
            if not (how == "epoll" and end in ("kill", "clone")) and (end != "clone" or os.uname().machine == "x86_64")]
    if is_filtered():
        print("left out: sleepers whose connection a process had that has ended (it takes no seccomp)")
        left = []
    for mode, how, limited in (*cases, *left, ("1", "recv", True)):
        what = f"UNETSOCK_UPGRADE={mode}, {how}" + (", 1024 descriptors at most" if limited else "")
        try:
            ours = build.run([sys.executable, "-c", ASLEEP, *how.split()], mode, stats=True, seconds=20,
                             environment={"UNETSOCK_SPIN": "0"}, preexec_fn=limit_descriptors if limited else None)
        except subprocess.TimeoutExpired:
            return f"{what}: somebody is not woken"
        told = re.search(r"by the rings (\d+) bytes; upgraded, but by TCP (\d+)", ours.stderr)
        if ours.returncode != 0 or ours.stdout != "b''\n" or not told:
            return f"{what}: {ours.stdout}\n{ours.stderr}"
        if int(told[1]) < (4 if mode == "random" else 20) * int(told[2]):
            return f"{what}: woken by TCP\n{ours.stderr}"
    return None


# A client waits for space and then for data, and changes its set for each; and polls two connections when it knows that
# both have data, as how often it would have to sleep depends on who else runs.  The set is closed first: it has the
# wakers as long as it is open; who sleeps meanwhile is woken by data that go by TCP, for which poll asks the kernel.
CHANGES = """
import os, select, socket
listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    talk = [listener.accept()[0] for _ in range(2)]
    while data := talk[0].recv(100):
        talk[0].sendall(data)
        talk[1].sendall(talk[1].recv(100))
    os._exit(0)
pair = [socket.create_connection(listener.getsockname()) for _ in range(2)]
s, numbers = select.epoll(), [one.fileno() for one in pair]
for turn in range(1000):
    for one in pair:
        s.register(one, select.EPOLLOUT)
        assert s.poll() == [(one.fileno(), select.EPOLLOUT)]
        one.sendall(b"x")
        s.unregister(one)
        s.register(one, select.EPOLLIN)
        assert s.poll() == [(one.fileno(), select.EPOLLIN)]
        assert one.recv(100) == b"x"
        s.unregister(one)
s.close()
p = select.poll()
for one in pair:
    p.register(one, select.POLLIN)
for turn in range(1000):
    for one in pair:
        one.sendall(b"x")
    for one in pair:
        one.recv(1, socket.MSG_PEEK)
    for _ in pair:
        told = p.poll()[0]
        assert told[1] == select.POLLIN and pair[numbers.index(told[0])].recv(100) == b"x"
"""


def asks_the_kernel(build):
    """Who tells the kernel what it need not know, or asks it, or None."""
    for mode in both.MODES[:2]:
        ours = build.run([sys.executable, "-c", CHANGES], mode, stats=True)
        told = re.search(r"(\d+) changes of epoll sets put off, (\d+) polls of several", ours.stderr)
        if ours.returncode != 0 or not told or int(told[1]) < 1000 or int(told[2]) < 1000:
            return f"UNETSOCK_UPGRADE={mode}: {ours.stderr}"
    return None


# Connections of one request, whose server looks for it in vain, and waits for the end of its client.
BRIEF = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
for turn in range(20):
    client = socket.create_connection(listener.getsockname())
    server = listener.accept()[0]
    server.setblocking(False)
    for look in range(6):
        try:
            server.recv(1)
            raise SystemExit("something came too early")
        except BlockingIOError:
            pass
    client.sendall(b"request")
    server.setblocking(True)
    assert server.recv(100) == b"request"
    server.sendall(b"answer")
    server.shutdown(socket.SHUT_WR)
    assert client.recv(100) == b"answer" and not client.recv(100)
    client.close()
    assert not server.recv(1)
    server.close()
"""


def hurries(build):
    """Whether connections of one request look for the other end, or None."""
    ours = build.run([sys.executable, "-c", BRIEF], "4", stats=True)
    if ours.returncode != 0 or "40  saw too few operations" not in ours.stderr:
        return f"connections of one request: {ours.returncode}\n{ours.stderr}"
    return None


# A child serves its parent's connection, whose other children come and go, as the first word says.
HELD = """
import ctypes, os, signal, socket, struct, sys
how, libc = sys.argv[1], ctypes.CDLL(None, use_errno=True)
NEW_PROCESSES = 0x20000000
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server = listener.accept()[0]

def talk(a, b, text):
    for turn in range(20):
        a.sendall(text)
        assert b.recv(100) == text
        b.sendall(text)
        assert a.recv(100) == text

def child(does):
    number = os.fork()
    if number == 0:
        does()
        os._exit(0)
    return number

def serves():
    client.close()
    while data := server.recv(100):
        server.sendall(data)

# The end is a reset where data lie unread, unless another process has the connection.
def close_unread(client, server):
    read, write = os.pipe()
    stays = child(lambda: os.write(write, b"x") and signal.pause()) if how == "stays" else None
    ends = [child(lambda: None) for _ in range(2)]
    os.close(write)
    if how == "ending": # they have closed their files, and may not be dead
        os.read(read, 1)
    else:
        for one in ends:
            os.waitpid(one, 0)
    if stays: # who is killed before it runs is a holder for ever
        os.read(read, 1)
        os.kill(stays, signal.SIGKILL)
        os.waitpid(stays, 0)
    client.sendall(b"nobody reads that")
    while not server.recv(1, socket.MSG_PEEK):
        pass
    server.close()
    try:
        print(client.recv(100))
    except OSError as error:
        print(error)
    os.close(read)

talk(client, server, b"begin")
if how in ("namespace", "killed"):
    lives = child(serves)
    if how == "namespace":
        assert libc.unshare(NEW_PROCESSES) == 0
    other = child(server.close)
    os.waitpid(other, 0)
    server.close()
    others = [socket.create_connection(listener.getsockname())]
    others.append(listener.accept()[0])
    talk(*others, b"another one's")
    for turn in range(3):
        client.sendall(b"turn %d" % turn)
        print(client.recv(100))
    os.kill(lives, signal.SIGKILL)
    os.waitpid(lives, 0)
else:
    close_unread(client, server)
    for _ in range(20 if how == "ending" else 0):
        client = socket.create_connection(listener.getsockname())
        server = listener.accept()[0]
        talk(client, server, b"begin")
        close_unread(client, server)
"""

# What a filter that was there before the program does about one system call.
FILTERED = """
import ctypes, os, struct, sys
LOAD, EQUAL, RETURN, ALLOW = 0x20, 0x15, 6, 0x7fff0000
words = [(LOAD, 0, 0, 0), (EQUAL, 0, 1, int(sys.argv[1])), (RETURN, 0, 0, int(sys.argv[2])), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *word) for word in words))
program = struct.pack("HxxxxxxP", len(words), ctypes.addressof(code))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.c_char_p(program)) == 0
os.execvp(sys.argv[3], sys.argv[3:])
"""
KILL_IS = 62  # on x86-64
EPOLL_PWAIT2_IS = 441
KILLS, FAILS = 0x80000000, 0x50000  # what the filter does: FAILS + errno


def run_filtered(build, number, action, command, seconds=60):
    """Run a command over unetsock under a filter that does something about the system call of a number."""
    return subprocess.run([sys.executable, "-c", FILTERED, str(number), str(action), build.unetsock, *command],
                          text=True, check=False, capture_output=True, timeout=seconds,
                          env={**os.environ, "UNETSOCK_UPGRADE": "1"})


def holds_wrongly(build):
    """What is told otherwise than over plain TCP of connections that several processes have, or None."""
    can_unshare = subprocess.run(["unshare", "--pid", "--fork", "true"], check=False,
                                 stderr=subprocess.DEVNULL).returncode == 0
    if not can_unshare:
        print("left out: a namespace of processes (it takes root)")
    if is_filtered():
        print("left out: connections that processes had that have ended (it takes no seccomp)")
        return None
    for how in ["killed", "stays", "ended", "ending"] + ["namespace"] * can_unshare:
        command = [sys.executable, "-c", HELD, how]
        plain, ours = build.run(command), build.run(command, "1", stats=True)
        if plain.returncode != 0 or (ours.returncode, ours.stdout) != (0, plain.stdout):
            return f"{how}: {plain.stdout}{plain.stderr}\n{ours.returncode}: {ours.stdout}\n{ours.stderr}"
    if os.uname().machine == "x86_64":
        command = [sys.executable, "-c", HELD, "ended"]
        ours = run_filtered(build, KILL_IS, KILLS, command)
        if ours.returncode != 0:
            return f"under a filter: {ours.returncode}: {ours.stdout}\n{ours.stderr}"
    return None


# A set waits in vain for a connection that has a ring, after it has spun, and then not in vain.
WAITING = """
import os, select, socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server = listener.accept()[0]
for turn in range(20):
    client.sendall(b"x")
    server.sendall(server.recv(1))
    client.recv(1)
waiter = select.epoll()
waiter.register(server, select.EPOLLIN)
for turn in range(3):
    print(waiter.poll(0.01))
    client.sendall(b"x")
    print(len(waiter.poll(10)), server.recv(1))
"""


def needs_new_calls(build):
    """How a set waits otherwise where the kernel lacks epoll_pwait2, or a filter forbids it, or None."""
    if os.uname().machine != "x86_64" or is_filtered():
        print("left out: a kernel without epoll_pwait2 (it takes x86-64 and seccomp)")
        return None
    command = [sys.executable, "-c", WAITING]
    plain = build.run(command)
    for error in errno.ENOSYS, errno.EPERM:
        ours = run_filtered(build, EPOLL_PWAIT2_IS, FAILS + error, ["--stats", *command])
        if (ours.returncode, ours.stdout) != (0, plain.stdout) or both.upgraded(ours.stderr) < 2:
            return f"{os.strerror(error)}: {ours.returncode}: {ours.stdout}\n{ours.stderr}"
    return None


# Sockets of MPTCP at the numbers of such of TCP, which are closed where nobody sees it.
REPLACED = """
import ctypes, os, socket
libc = ctypes.CDLL(None)
CLOSE, SOCKET, MPTCP = 3, 41, 262

def replaced():
    number = socket.socket().detach()
    libc.syscall(CLOSE, number)
    assert libc.syscall(SOCKET, socket.AF_INET, socket.SOCK_STREAM, MPTCP) in (number, -1)
    return socket.socket(fileno=number)

listener = replaced()
listener.listen()
s = replaced()
s.connect(listener.getsockname())
t = listener.accept()[0]
for turn in range(100):
    s.sendall(b"x")
    t.sendall(t.recv(1))
    assert s.recv(1) == b"x"
"""


def takes_for_tcp(build):
    """What is upgraded that only was TCP before, or None.  Numbers of calls are those of x86-64."""
    enabled = pathlib.Path("/proc/sys/net/mptcp/enabled")
    if os.uname().machine != "x86_64" or not enabled.exists() or enabled.read_text("ascii").strip() != "1":
        print("left out: sockets that replace others (they take MPTCP, on x86-64)")
        return None
    ours = build.run([sys.executable, "-c", REPLACED], "1", stats=True)
    return ours.stderr if ours.returncode != 0 or both.upgraded(ours.stderr) else None


def waits_apart(build):
    """Two that take turns and never spin try one core for both, and not if they are told not to; what they do
    otherwise, or None."""
    if len(os.sched_getaffinity(0)) < max(2, os.cpu_count()) or is_filtered():
        print("left out: two that wait on one core (a thread may run on all cores, of two at least; no seccomp)")
        return None
    for core, joined in ("1", True), ("0", False):
        ours = build.run([build.program("turns_calls")], "4", stats=True,
                         environment={"UNETSOCK_SPIN": "0", "UNETSOCK_CORE": core})
        told = re.search(r"(\d+) sleeps on the core of the other end", ours.stderr)
        if not told or (int(told[1]) > 0) != joined:
            return f"UNETSOCK_CORE={core}: {ours.stderr}"
    return None


def main():
    build = both.Build(sys.argv[1])
    for program, turns in (("exact_calls", 3), ("process_calls", 3), ("matrix_calls", 1),
                           ("set_calls", 1), ("wake_calls", 1), ("thread_calls", 1), ("end_calls", 1),
                           ("lock_calls", 1), ("order_calls", 2)):
        if text := differs(build, program, turns):
            print(f"{program}: {text}")
            return 1
    for program, turns, least in ("change_calls", 2, 4), ("fork_calls", 1, 4), ("turns_calls", 1, 2):
        if text := differs(build, program, turns, least=least):
            print(f"{program}: {text}")
            return 1
    if text := hurries(build):
        print(text)
        return 1
    if text := asks_the_kernel(build):
        print(f"calls of the kernel: {text}")
        return 1
    if text := sleeps_by_tcp(build):
        print(f"never spinning: {text}")
        return 1
    if text := holds_wrongly(build):
        print(f"held: {text}")
        return 1
    if text := needs_new_calls(build):
        print(f"without epoll_pwait2: {text}")
        return 1
    if text := takes_for_tcp(build):
        print(f"no TCP any more: {text}")
        return 1
    if text := waits_apart(build):
        print(f"on one core: {text}")
        return 1
    os.environ["UNETSOCK_SPIN"] = "0"
    for program, least in (("exact_calls", 20), ("process_calls", 20), ("wake_calls", 20),
                           ("thread_calls", 20), ("turns_calls", 2)):
        if text := differs(build, program, 1, least=least):
            print(f"{program}, never spinning: {text}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
