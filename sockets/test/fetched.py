# SPDX-License-Identifier: BSD-3-Clause
"""Test suites of other programs, whose sources come from Debian's archive into the build folder."""
import dataclasses
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tarfile
import typing
import zipfile

TCLSH = "tclsh8.6"
# unit/pubsub and unit/type/list expect the server to hear of several connections in the order in
# which they were sent to.
REDIS_UNITS = ("unit/protocol unit/obuf-limits unit/querybuf unit/multi unit/limits unit/auth "
               "unit/networking unit/pubsub unit/type/list unit/client-eviction unit/tracking unit/introspection "
               "integration/block-repl integration/psync2-reg").split()


class Unavailable(Exception):
    """A suite cannot be had; says why."""


@dataclasses.dataclass
class Suite:
    """A suite, its source package, what it needs installed, and how it is run in the sources' folder."""
    name: str
    package: str  # or nothing: it is installed, or `make` fetches it
    needs: tuple
    command: list
    folder: str = "."
    says: str = ""  # on success, besides the exit status
    may_fail: tuple = ()  # tests that want a network, or a time, which test machines lack
    failed: str = r"^not ok \d+ - (\S+)"  # how those are told
    as_nobody: bool = False  # the suite refuses root
    seconds: int = 300  # for all of it
    make: typing.Callable[[pathlib.Path], None] | None = None  # what the sources lack to be run

    def options(self):
        """How to start it."""
        if not self.as_nobody or os.geteuid() != 0:
            return {}
        return {"user": 65534, "group": 65534, "extra_groups": [], "environment": {"HOME": "/tmp"}}

    def failures(self, done):
        """The names of those of its tests that failed, without those that may; empty if it was successful."""
        names = set(re.findall(self.failed, done.stdout, re.MULTILINE))
        if self.says not in done.stdout or (done.returncode != 0 and not names):
            names.add("the suite itself")
        return names - set(self.may_fail)

    def prepare(self, build):
        """The folder in which to run it."""
        missing = [name for name in self.needs if not shutil.which(name)]
        if missing:
            raise Unavailable(f"there is no {', '.join(missing)}")
        source = build.folder / "sockets-suites"
        source.mkdir(exist_ok=True)
        if self.package:
            source = sources(source, self.package)
        if self.make:
            self.make(source)
        return source / self.folder


def link_redis(source):
    """Its tests look for programs beside them."""
    programs = {"cli": "redis-cli", "benchmark": "redis-benchmark"}
    for name in "server", "cli", "benchmark", "check-aof", "check-rdb", "sentinel":
        link = source / "src" / f"redis-{name}"
        if not link.is_symlink():
            link.symlink_to(shutil.which(programs.get(name, "redis-server")))


def link_memcached(source):
    """Its tests start a memcached of their own build, which has one option more than Debian's."""
    for name in "memcached", "memcached-debug":
        program = source / name
        program.write_text('#!/bin/bash\nargs=()\nwhile (($#)); do\n'
                           '    if [[ $1 == -o && $2 == relaxed_privileges ]]; then shift 2; continue; fi\n'
                           '    args+=("$1")\n    shift\ndone\n'
                           f'exec {shutil.which("memcached")} "${{args[@]}}"\n', encoding="ascii")
        program.chmod(0o755)
    timed = source / "timedrun"
    timed.write_text('#!/bin/sh\nshift\nexec "$@"\n', encoding="ascii")
    timed.chmod(0o755)


def build_by(name, commands):
    """Run what builds the tests of that name."""
    for command in commands:
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=1200, check=False)
        except subprocess.TimeoutExpired as why:
            raise Unavailable(f"{name} is not built in 20 minutes") from why
        if done.returncode != 0:
            lines = (done.stderr + done.stdout).splitlines()
            why = next((line for line in lines if "error" in line.lower()), f"{command[0]} failed")
            raise Unavailable(f"{name} cannot be built: {why[:300]}")


def make_libuv(source):
    """Build libuv's tests, which write into their folder."""
    folder = source / "build"
    if not (folder / "uv_run_tests").exists():
        build_by("libuv", (["cmake", "-B", folder, "-S", source, "-DLIBUV_BUILD_TESTS=ON"],
                           ["cmake", "--build", folder, "-j", "2", "--target", "uv_run_tests"]))
    if os.geteuid() == 0:
        for path in [source, *source.rglob("*")]:
            os.chown(path, 65534, 65534, follow_symlinks=False)


def make_curl(source):
    """Build a curl and the servers that its tests start."""
    if not (source / "config.status").exists():
        build_by("curl", (["sh", "-c", 'cd "$0" && ./configure --quiet --disable-shared --without-ssl', source],))
    build_by("curl", (["make", "-s", "-j2", "-C", source], ["make", "-s", "-j2", "-C", source / "tests"]))


def make_postgresql(source):
    """Build and install a server, and what its tests load into it, within the sources."""
    if not (source / "config.status").exists():
        build_by("PostgreSQL", (["sh", "-c", 'cd "$0" && ./configure --quiet --prefix="$0/installed" '
                                 '--without-readline --without-zlib', source],))
    build_by("PostgreSQL", (["make", "-s", "-j2", "-C", source, "install"],
                            ["make", "-s", "-j2", "-C", source / "src/test/regress"]))


# A server that listens to TCP alone, with its data in a new folder.
POSTGRESQL = """
set -e
bin=$(realpath ../../../installed/bin)
folder=$(mktemp -d)
finish() {
    "$bin/pg_ctl" -D "$folder/data" -m immediate stop > "$folder/stopped" 2>&1 || true
    rm -rf "$folder"
}
trap finish EXIT
"$bin/initdb" -D "$folder/data" -U postgres --no-sync --no-locale -E UTF8 > "$folder/made"
port=$((20000 + $$ % 10000))
"$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -o "-h 127.0.0.1 -k '' -p $port -F" start > "$folder/started" ||
    { cat "$folder/log"; exit 1; }
./pg_regress --inputdir=. --outputdir="$folder" --bindir="$bin" --dlpath=. --host=127.0.0.1 --port="$port" \
    --user=postgres --max-concurrent-tests=20 --schedule=parallel_schedule || { cat "$folder/regression.diffs"; exit 1; }
"""

# Debian's package has the scripts and what they need beside ssh; their folder is made anew each time. Of the tests,
# those whose ssh and sshd meet by TCP, and a few of what sessions carry; most others use a pipe. Not those that want
# sudo (sftp-chroot), or take minutes (rekey, forward-control).
OPENSSH = """
regress=/usr/lib/openssh/regress
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/regress"
for program in netcat modpipe mkdtemp setuid-allowed check-perm; do
    ln -s "$regress/$program" "$folder/regress/"
done
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
cd "$regress" || exit 1
run() {
    make .OBJDIR="$folder/regress" .CURDIR="$regress" BUILDDIR="$folder" OBJ="$folder/regress" SUDO= \
        TEST_SSH_SSH=/usr/bin/ssh TEST_SSH_SSHD=/usr/sbin/sshd TEST_SSH_SSHAGENT=/usr/bin/ssh-agent \
        TEST_SSH_SSHADD=/usr/bin/ssh-add TEST_SSH_SSHKEYGEN=/usr/bin/ssh-keygen TEST_SSH_SFTP=/usr/bin/sftp \
        TEST_SSH_SSHKEYSCAN=/usr/bin/ssh-keyscan TEST_SSH_SFTPSERVER=/usr/lib/openssh/sftp-server \
        TEST_SSH_SCP=/usr/bin/scp TEST_SSH_PORT=$((20000 + $$ % 10000)) TEST_SHELL=sh TEST_SSH_UNSAFE_PERMISSIONS=1 \
        LTESTS="$1" t-exec
}
number=0
for test in banner brokenkeys cfgmatch cfgmatchlisten connect connect-uri dynamic-forward forwarding \
    key-options keyscan login-timeout multiplex reconfigure reexec sftp-uri stderr-after-eof transfer; do
    number=$((number + 1))
    if run "$test"; then echo "ok $number - $test"; else echo "not ok $number - $test"; fi
done
echo "1..$number"
"""

# Netty publishes its tests as a library; Maven finds what that needs.
NETTY_PARTS = (
    "io.netty:netty-testsuite:4.1.115.Final", "io.netty:netty-testsuite:4.1.115.Final:sources",
    "io.netty:netty-transport-native-epoll:4.1.115.Final:linux-" + platform.machine().replace("aarch64", "aarch_64"),
    "io.netty:netty-tcnative-classes:2.0.69.Final", "org.bouncycastle:bcpkix-jdk15on:1.69",
    "org.eclipse.jdt:ecj:3.31.0", "org.junit.platform:junit-platform-console:1.9.0")
NETTY_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sockets</groupId><artifactId>netty</artifactId><version>1</version>
  <dependencies>
%s
  </dependencies>
</project>
"""
# All tests of TCP's sockets but those that take long for their ciphers or their delays.
NETTY = """
exec java -Dlogback.configurationFile="$PWD/logback.xml" -cp "$0$(cat classpath)" \
    org.junit.platform.console.ConsoleLauncher \
    --scan-class-path="$(tr : '\\n' < classpath | grep '/netty-testsuite-[^-]*[.]jar')" \
    --include-package io.netty.testsuite.transport.socket \
    --exclude-classname '.*[.](SocketSslEcho|SocketSslClientRenegotiate|TrafficShapingHandler|Datagram.*'"$1"')Test' \
    --details summary --disable-ansi-colors --disable-banner
"""
# These want a network that loses packets, and a library of OpenSSL that belongs to another part of Netty.
NETTY_MAY_FAIL = ("SocketConnectionAttemptTest:testConnectCancellation",
                  "SocketSslSessionReuseTest:testSslSessionTrustManagerResumption")
NETTY_FAILED = r"^  JUnit Jupiter:(\w+(?::\w+)?)"


def netty_dependency(part):
    """A part of Netty, as Maven's file names it."""
    names = zip(("groupId", "artifactId", "version", "classifier"), part.split(":"))
    return "    <dependency>" + "".join(f"<{name}>{text}</{name}>" for name, text in names) + "</dependency>"


def make_netty(folder):
    """Have Maven fetch Netty's tests into a folder of their own, and tell where each part of them is."""
    folder = folder / "netty"
    folder.mkdir(exist_ok=True)
    pom = NETTY_POM % "\n".join(netty_dependency(part) for part in NETTY_PARTS)
    if (folder / "classpath").exists() and (folder / "pom.xml").read_text(encoding="ascii") == pom:
        return
    (folder / "pom.xml").write_text(pom, encoding="ascii")
    (folder / "logback.xml").write_text('<configuration><root level="OFF"/></configuration>\n', encoding="ascii")
    (folder / "classpath").unlink(missing_ok=True)
    build_by("Netty", (["mvn", "-q", "-B", "-f", folder / "pom.xml", f"-Dmaven.repo.local={folder}/repository",
                        "dependency:build-classpath", f"-Dmdep.outputFile={folder}/classpath"],))


def make_netty_epoll(folder):
    """The same tests, with Netty's own transport by epoll in the place of blocking sockets."""
    make_netty(folder)
    folder = folder / "netty"
    classpath = (folder / "classpath").read_text(encoding="utf-8")
    part = {name: next(path for path in classpath.split(":") if name in path) for name in ("-sources", "/ecj-")}
    name = "io/netty/testsuite/transport/socket/SocketTestPermutation.java"
    with zipfile.ZipFile(part["-sources"]) as archive:
        text = archive.read(name).decode()
    text = re.sub(r"io\.netty\.channel\.(?:socket\.)?oio\.Oio", "io.netty.channel.epoll.Epoll", text)
    text = re.sub(r"\bOio(EventLoopGroup|(?:Server)?SocketChannel|DatagramChannel)", r"Epoll\1", text)
    text = re.sub(r"\s*\.option\(ChannelOption\.SO_TIMEOUT, OIO_SO_TIMEOUT\)", "", text)
    (folder / "epoll").mkdir(exist_ok=True)
    (folder / "SocketTestPermutation.java").write_text(text.replace("Integer.MAX_VALUE", "WORKERS"), encoding="utf-8")
    build_by("Netty", (["java", "-jar", part["/ecj-"], "-source", "8", "-target", "8", "-nowarn", "-cp", classpath,
                        "-d", folder / "epoll", folder / "SocketTestPermutation.java"],))


SUITES = [
    Suite("Tcl's socket.test", "tcl8.6", (TCLSH,), [TCLSH, "all.tcl", "-file", "socket.test"], "tests",
          "Failed\t0", failed=r"^==== (\S+) FAILED"),
    Suite("redis's units", "redis", (TCLSH, "redis-server", "redis-cli", "redis-benchmark"),
          [TCLSH, "tests/test_helper.tcl", "--clients", "4",
           *(word for unit in REDIS_UNITS for word in ("--single", unit))],
          says="All tests passed without errors", failed=r"^\[(?:err|exception)\]: (.*)", make=link_redis),
    Suite("libuv's tests", "libuv1", ("cmake", "cc"), ["build/uv_run_tests"], says="\nok 400 - ",
          may_fail=("tcp_connect_timeout", "tcp_close_while_connecting"), as_nobody=True, make=make_libuv),
    Suite("memcached's tests", "memcached", ("memcached", "prove"),
          ["bash", "-c", "prove -j4 $(ls t/*.t | grep -v -e ssl -e tls -e proxy)"], says="\nFiles=",
          may_fail=("t/expirations.t",), failed=r"^(t/\S+\.t) +\(Wstat", make=link_memcached),
    # Those of international names want a locale that test machines lack.
    Suite("curl's tests", "curl", ("perl", "make", "cc"),
          ["env", "USER=tester", "perl", "runtests.pl", "-a", "-n", "-p", "!flaky", "!IDN"], "tests", "\nTESTDONE: ",
          failed=r"^ *(\d+): .*FAILED", seconds=1200, make=make_curl),
    Suite("PostgreSQL's regression tests", "postgresql-15", ("perl", "make", "cc"), ["bash", "-c", POSTGRESQL],
          "src/test/regress", says="tests passed", failed=r"^(?:test)? +(\S+) +\.\.\. FAILED",
          as_nobody=True, make=make_postgresql),
    Suite("Netty's tests", "", ("mvn", "java"), ["bash", "-c", NETTY, ""], "netty", says="\nTest run finished after ",
          may_fail=NETTY_MAY_FAIL, failed=NETTY_FAILED, seconds=600, make=make_netty),
    # One of these hangs now and then, over TCP as well: what the peer sent has been read, and not by the test's reader.
    Suite("Netty's epoll tests", "", ("mvn", "java"),
          ["bash", "-c", NETTY, "epoll:", "|SocketShutdownOutputBySelf"], "netty",
          says="\nTest run finished after ", may_fail=NETTY_MAY_FAIL, failed=NETTY_FAILED, seconds=600,
          make=make_netty_epoll),
    Suite("stress-ng's sockets", "", ("stress-ng",),
          ["stress-ng", "--sock", "2", "--epoll", "1", "--sendfile", "1", "--timeout", "10", "--verify"]),
    Suite("openssh-tests", "", ("/usr/sbin/sshd", "/usr/lib/openssh/regress/netcat", "make"),
          ["bash", "-c", OPENSSH], says="\n1..", seconds=600),
]


def apt(folder, *arguments):
    """apt-get with lists and archives of its own, and sources besides the packages."""
    done = subprocess.run(["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={folder}/sources.list",
                           "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={folder}/lists",
                           "-o", f"Dir::Cache={folder}/cache", "-o", "APT::Sandbox::User=root",
                           *arguments], cwd=folder, capture_output=True, text=True, timeout=300,
                          check=False)
    if done.returncode != 0:
        raise Unavailable(f"apt-get {arguments[0]}: {done.stderr.strip()[-300:]}")


def sources(folder, package):
    """The original sources of a Debian package, unpacked."""
    target = folder / package
    if target.is_dir():
        return target
    if not shutil.which("apt-get"):
        raise Unavailable("there is no apt-get")
    for part in "lists/partial", "cache":
        (folder / part).mkdir(parents=True, exist_ok=True)
    sites = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)",
                            "Created-By: Packages"], capture_output=True, text=True, check=False)
    # The release's own sources are enough for tests, and mirrors often have no sources of security updates.
    lines = sorted({line for line in sites.stdout.splitlines()
                    if "debian" in line and "security" not in line})
    if not lines:
        raise Unavailable("apt-get knows no archive of Debian")
    (folder / "sources.list").write_text("".join(f"deb-src {line} main\n" for line in lines))
    apt(folder, "update")
    apt(folder, "source", "--download-only", package)
    archive = next(iter(folder.glob(f"{package}_*.orig.tar.*")), None)
    if archive is None:
        raise Unavailable(f"{package} has no original sources")
    unpacked = pathlib.Path(f"{target}.new")
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(unpacked)
    next(iter(unpacked.iterdir())).rename(target)
    return target
