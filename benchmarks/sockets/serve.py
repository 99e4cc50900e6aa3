#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""serve.py PART PROGRAM [UNETSOCK...]: a real server and a real client of it on this machine, over TCP or, with the
command that runs a program over unetsock, both over that.  Prints "METRIC NANOSECONDS" of a request, of a MiB or of a
file.  PROGRAMS has their names; requests are divided by PART where they are counted.

serve.py PART PID,PID [UNETSOCK...]: redis on the host of one process, and its clients on that of another one."""
import dataclasses
import functools
import glob
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Callable

PREFIX = []  # unetsock, or nothing
IS_ROOT = os.geteuid() == 0
# Servers that will not run as root.
AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"] if IS_ROOT else []
PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's pyftpdlib
POSTGRESQL = max(glob.glob("/usr/lib/postgresql/*/bin"), default="")
CLIENTS_OF_MEMCACHED = (1, 16)
MEMCACHED_MIX = "key\n64 64 1\nvalue\n64 64 1\ncmd\n0 0.1\n1 0.9\n"  # bytes of both; 1 set to 9 gets
CLIENTS_OF_POSTGRESQL = (1, 8)
FTP_SIZES = (1, 4096, 65536, 2 << 20, 32 << 20)
CLIENT_SECONDS = 80  # of a client that takes a few, on a machine that has much else to do
SETTLES = 0.1  # seconds until a connection counts as idle


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return str(listener.getsockname()[1])


class Server:
    """A server, from when it listens on."""

    def __init__(self, port, *command, host=()):
        self.port = int(port)
        self.name = os.path.basename(command[0])
        self.process = subprocess.Popen([*host, *PREFIX, *command], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + 10
        wanted = f":{self.port:04X} 00000000:0000 0A"
        while wanted not in pathlib.Path(f"/proc/{self.process.pid}/net/tcp").read_text(encoding="ascii"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{self.name} does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit(f"{self.name} does not end within 10 s of SIGTERM")


def client(*command, host=()):
    name = os.path.basename(command[0])
    try:
        done = subprocess.run([*host, *PREFIX, *command], capture_output=True, text=True,
                              check=False, timeout=CLIENT_SECONDS)
    except subprocess.TimeoutExpired:
        sys.exit(f"{name} does not end within {CLIENT_SECONDS} s")
    if done.returncode != 0:
        sys.exit(f"{name}: exit code {done.returncode}: {' '.join(done.stderr.split())}")
    return done.stdout


def redis_get(requests, *arguments, host=()):
    """Nanoseconds of a request; of so many, or of the part of them that is asked for."""
    return 1e9 / redis_rate(client("redis-benchmark", "-t", "get", "-n", str(requests // PART), "--csv", *arguments,
                                   host=host))


def redis_rate(text):
    return float(re.search(r'"GET","([\d.]+)"', text).group(1))


def redis_between(pids):
    """A server with one core and clients with the other, if there are two."""
    cores = sorted(os.sched_getaffinity(0))
    hosts = [["taskset", "-c", str(cores[i % len(cores)]), "nsenter", "-t", pid, "-n", "-u", "-m", "--"]
             for i, pid in enumerate(pids)]
    with Server("6379", "redis-server", "--port", "6379", "--protected-mode", "no", "--save", "",
                "--appendonly", "no", host=hosts[0]):
        for clients, requests in (1, 20000), (4, 80000), (8, 80000):
            took = redis_get(requests, "-h", "10.78.0.1", "-c", str(clients), host=hosts[1])
            print(f"redis_{clients}_hosts {took:.1f}")


def redis_server(port):
    return Server(port, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
                  "--appendonly", "no")


def redis():
    port = free_port()
    with redis_server(port):
        for name, clients, depth, requests in (("redis", 50, 1, 100000), ("redis_p16", 50, 16, 1000000),
                                               ("redis_one", 1, 1, 10000)):  # a second each over TCP
            took = redis_get(requests, "-p", port, "-c", str(clients), "-P", str(depth))
            print(f"{name} {took:.1f}")


def nginx():
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "page").write_text("hello\n", encoding="ascii")
        (folder / "file").write_bytes(os.urandom(65536))
        (folder / "conf").write_text(
            f"daemon off; error_log {folder}/error; pid {folder}/pid; worker_processes 1;\n"
            f"{'user root;' if IS_ROOT else ''} events {{ worker_connections 200; }}\n"
            "http { access_log off; sendfile on; keepalive_requests 10000000;\n"
            " client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u;\n"
            f" scgi_temp_path s; server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n",
            encoding="ascii")
        with Server(port, "nginx", "-c", f"{folder}/conf", "-p", f"{folder}/"):
            for page in "page", "file":
                out = client("wrk", "-t1", "-c16", "-d1", f"http://127.0.0.1:{port}/{page}")
                rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
                print(f"nginx_{page} {1e9 / rate:.1f}")


def iperf3():
    port = free_port()
    with Server(port, "iperf3", "-4", "-B", "127.0.0.1", "-s", "-p", port):
        out = client("iperf3", "-c", "127.0.0.1", "-p", port, "-t", "1", "-f", "m")
        rate = float(re.search(r"([\d.]+) Mbits/sec\s+receiver", out).group(1))
        print(f"iperf3 {(8 << 20) / rate * 1e3:.1f}")


def memcached():
    port = free_port()
    user = ["-u", "nobody"] if IS_ROOT else []
    server = Server(port, "memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-t", "1", *user)
    # Without a file of its own memcaslap leaves one in the user's home.
    with server, tempfile.NamedTemporaryFile("w", encoding="ascii") as mix:
        mix.write(MEMCACHED_MIX)
        mix.flush()
        for clients in CLIENTS_OF_MEMCACHED:
            out = client("memcaslap", "-s", f"127.0.0.1:{port}", "-T", "1", "-c", str(clients),
                         "-t", "1s", "-F", mix.name)
            rate = float(re.search(r"TPS: (\d+)", out).group(1))
            print(f"memcached_{clients} {1e9 / rate:.1f}")


def postgresql(name, *arguments):
    """Run one of its programs, not over unetsock, as who runs the server; 0 if that succeeds."""
    return subprocess.run([*AS_NOBODY, f"{POSTGRESQL}/{name}", *arguments], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode


def make_tables(where):
    """A server listens before it is ready."""
    deadline = time.monotonic() + 10
    while postgresql("pg_isready", "-q", *where) != 0:
        if time.monotonic() > deadline:
            sys.exit("postgres does not become ready")
        time.sleep(0.05)
    if postgresql("pgbench", "-i", "-q", *where, "postgres") != 0:
        sys.exit("pgbench cannot make its tables")


def pgbench():
    port = free_port()
    with tempfile.TemporaryDirectory() as name:
        if IS_ROOT:
            shutil.chown(name, "nobody")
        if postgresql("initdb", "-D", f"{name}/data", "-U", "postgres", "--no-sync", "--no-locale") != 0:
            sys.exit("initdb fails")
        where = ["-h", "127.0.0.1", "-p", port, "-U", "postgres"]
        with Server(port, f"{POSTGRESQL}/postgres", "-D", f"{name}/data", "-h", "127.0.0.1", "-k", "",
                    "-p", port, "-F", host=AS_NOBODY):
            make_tables(where)
            for clients in CLIENTS_OF_POSTGRESQL:
                out = client(f"{POSTGRESQL}/pgbench", "-n", "-S", "-M", "prepared", "-c", str(clients),
                             "-T", "1", *where, "postgres")
                rate = float(re.search(r"tps = ([\d.]+)", out).group(1))
                print(f"pgbench_{clients} {1e9 / rate:.1f}")


def ftp():
    """Files from a folder in memory, where there is one."""
    port = free_port()
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        for size in FTP_SIZES:
            (pathlib.Path(folder) / str(size)).write_bytes(os.urandom(size))
        with Server(port, PYTHON, "-m", "pyftpdlib", "-i", "127.0.0.1", "-p", port, "-d", folder):
            print(client(PYTHON, str(pathlib.Path(__file__).with_name("ftp_client.py")), port,
                         *map(str, FTP_SIZES)), end="")


def processor_ns(pid):
    """The processor time of all threads of a process, by its clock (clock_getcpuclockid(3))."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def redis_idle():
    """The processor time of a server in a second in which its only client says nothing."""
    port = free_port()
    server = redis_server(port)
    with server, subprocess.Popen([*PREFIX, "redis-cli", "-p", port], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as talker:
        for _ in range(100):
            print("ping", file=talker.stdin, flush=True)
            if talker.stdout.readline().strip() != "PONG":
                sys.exit("redis does not answer")
        time.sleep(SETTLES)
        before = processor_ns(server.process.pid)
        time.sleep(1)
        print(f"redis_idle {processor_ns(server.process.pid) - before:.1f}")
        talker.stdin.close()


# ---- all of them ----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Program:
    """A server that is measured, and the commands that takes."""

    run: Callable
    needs: tuple
    module: str = ""  # of Python's

    def is_installed(self):
        return all(map(shutil.which, self.needs)) and (not self.module or has_module(self.module))


@functools.cache
def has_module(name):
    return subprocess.run([PYTHON, "-c", f"import {name}"], stderr=subprocess.DEVNULL, timeout=20,
                          check=False).returncode == 0


PROGRAMS = {
    "redis": Program(redis, ("redis-server", "redis-benchmark")),
    "nginx": Program(nginx, ("nginx", "wrk")),
    "memcached": Program(memcached, ("memcached", "memcaslap")),
    "pgbench": Program(pgbench, tuple(f"{POSTGRESQL}/{name}" for name in
                                      ("initdb", "postgres", "pg_isready", "pgbench"))),
    "iperf3": Program(iperf3, ("iperf3",)),
    "ftp": Program(ftp, (PYTHON,), "pyftpdlib"),
    "redis_idle": Program(redis_idle, ("redis-server", "redis-cli")),
}


def installed():
    return [name for name, program in PROGRAMS.items() if program.is_installed()]


if __name__ == "__main__":
    PART, WHAT, *PREFIX = int(sys.argv[1]), *sys.argv[2:]
    if "," in WHAT:
        redis_between(WHAT.split(","))
    else:
        PROGRAMS[WHAT].run()
