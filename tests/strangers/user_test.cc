// SPDX-License-Identifier: BSD-3-Clause
//
// Another user of the machine, beside a job: what he opens, connects to, puts in its way and sends.
// The job's results are right, and nothing of it is his to read.  As root only, who is both.
#include "packets.h"
#include "users.h"

#include <algorithm>
#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <random>
#include <sstream>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

constexpr int NUMBERS = 64; // of descriptors that are tried

bool may_run()
{
    const std::string obstacle = no_other_users();

    if (!obstacle.empty())
        std::printf("\nnot run: %s\n", obstacle.c_str());
    return obstacle.empty();
}

// ---- what he opens ---------------------------------------------------------------------------

bool opens(const std::string &path, int flags)
{
    const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

// What of these processes whoever calls this may open.
Lines opened(const std::vector<std::string> &paths)
{
    Lines found;

    for (const std::string &path : paths)
        for (const auto &[flags, how] : {std::pair(O_RDONLY, "reads "), {O_RDWR, "writes "}})
            if (opens(path, flags))
                found.push_back(how + path);
    return found;
}

// All that leads into them by /proc, what only its owner can list included.
std::vector<std::string> ways_into(const std::vector<pid_t> &pids)
{
    std::vector<std::string> paths;

    for (const pid_t pid : pids) {
        const std::string process = "/proc/" + std::to_string(pid);
        std::error_code gone;
        for (const char *name :
             {"/mem", "/environ", "/maps", "/auxv", "/pagemap", "/fd", "/map_files", "/cwd/."})
            paths.push_back(process + name);
        for (const char *folder : {"/fd", "/map_files"})
            for (const auto &entry : fs::directory_iterator(process + folder, gone))
                paths.push_back(entry.path());
    }
    return paths;
}

// What he may do to them by system calls.
Lines meddled(const std::vector<pid_t> &pids)
{
    Lines found;

    for (const pid_t pid : pids) {
        const std::string who = " process " + std::to_string(pid);
        const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
        char byte;
        iovec here = {&byte, 1}, there = {reinterpret_cast<void *>(0x400000), 1};

        if (kill(pid, SIGSTOP) == 0)
            found.push_back("stops" + who);
        if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0)
            found.push_back("traces" + who);
        if (process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0 || errno != EPERM)
            found.push_back("reads" + who);
        for (int fd = 0; fd < NUMBERS; fd++)
            if (syscall(SYS_pidfd_getfd, process, fd, 0) >= 0)
                found.push_back("takes descriptor " + std::to_string(fd) + " of" + who);
        close(process);
    }
    return found;
}

std::vector<std::string> files_below(const std::string &folder)
{
    std::vector<std::string> found;
    std::error_code gone;

    for (fs::recursive_directory_iterator at(folder, gone), end; !gone && at != end;
         at.increment(gone))
        found.push_back(at->path());
    return found;
}

bool mentions(const Lines &lines, const std::string &text)
{
    return std::any_of(lines.begin(), lines.end(), [&](const std::string &line) {
        return line.find(text) != std::string::npos;
    });
}

// The names and command lines of a job that everybody can see.
Lines published(const Ground &ground, const std::vector<pid_t> &pids)
{
    Lines all = files_below(ground.shared());

    for (const std::string &name : files_below("/dev/shm"))
        all.push_back(name);
    for (const pid_t pid : pids)
        all.push_back(read_file("/proc/" + std::to_string(pid) + "/cmdline"));
    all.push_back(read_file("/proc/net/unix"));
    for (std::string &text : all)
        std::replace(text.begin(), text.end(), '\0', ' ');
    return all;
}

// Of a process' environment, which root may read.
std::string variable_of(pid_t pid, const std::string &name)
{
    std::istringstream variables(read_file("/proc/" + std::to_string(pid) + "/environ"));

    for (std::string one; std::getline(variables, one, '\0');)
        if (one.rfind(name + "=", 0) == 0)
            return one.substr(name.size() + 1);
    return {};
}

std::string joined(const Lines &lines)
{
    std::string text;

    for (const std::string &line : lines)
        text += "\n  " + line;
    return text;
}

// ---- jobs ------------------------------------------------------------------------------------

bool is_in_phase(const Ground &ground, int phase)
{
    int now = -1;

    std::ifstream(ground.own() + "/phase") >> now;
    return now >= phase;
}

// The job that exchanges and checks what came, for that long, and what is done to it meanwhile.
Outcome run_rounds(const Ground &ground, const Lines &options, double seconds,
                   const std::function<void()> &meanwhile)
{
    Lines words = options;
    std::ostringstream time;

    time << seconds;
    words.insert(words.end(), {"rounds", "1", time.str(), ground.own()});
    Command command = ground.job(words);
    command.meanwhile = [&](pid_t) {
        if (eventually([&] { return is_in_phase(ground, 0); }, 30s))
            meanwhile();
        else
            FAIL_CHECK("the job did not begin within 30 s");
    };
    return run(command);
}

void check_right(const Outcome &outcome)
{
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, Contains("wrong: 0 of ") && !Contains("phase: 0 0\n"));
}

} // namespace

TEST_CASE("another user opens nothing of a job's processes, and learns no secret of it")
{
    if (!may_run())
        return;
    const Ground ground({launcher(), ROUNDS});

    check_right(run_rounds(ground, {"-n", "4", "--nodes", "2"}, 2, [&] {
        const std::vector<pid_t> pids = ground.processes();
        const std::vector<std::string> ways = ways_into(pids);
        const auto look = [&] { return opened(ways); };
        const Lines stranger = as_user(STRANGER, look), owner = as_user(OWNER, look);
        const Lines calls = as_user(STRANGER, [&] { return meddled(pids); });

        CHECK(pids.size() >= 4 + 2);
        INFO("another user" << joined(stranger) << joined(calls));
        CHECK(stranger.empty());
        CHECK(calls.empty());
        CHECK(mentions(owner, "/environ")); // else there was nothing to be seen
        CHECK(mentions(owner, "/fd/"));
        CHECK(mentions(owner, "/map_files"));

        const Lines open_to_all = as_user(STRANGER, [&] { return published(ground, pids); });
        CHECK(mentions(open_to_all, "unetrun-" + std::to_string(OWNER))); // it does look
        for (const char *name : {"SPLITC_JOB_KEY", "PMIX_NAMESPACE"}) {
            const std::string secret = variable_of(pids.back(), name);
            INFO(name << "=" << secret << joined(open_to_all));
            REQUIRE(secret.size() >= 32);
            CHECK_FALSE(mentions(open_to_all, secret));
        }
    }));
}

TEST_CASE("another user opens nothing that a job leaves in shared memory and in /tmp")
{
    if (!may_run())
        return;
    const Ground ground({launcher(), ROUNDS});

    check_right(run_rounds(ground, {"-n", "2"}, 1, [&] {
        Lines all = files_below(ground.shared());
        for (const std::string &name : files_below("/dev/shm")) {
            struct stat status;
            if (stat(name.c_str(), &status) == 0 && status.st_uid == OWNER)
                all.push_back(name);
        }
        CHECK_FALSE(all.empty());
        const Lines stranger = as_user(STRANGER, [&] { return opened(all); });
        INFO("another user" << joined(stranger));
        CHECK(stranger.empty());
        CHECK_FALSE(as_user(OWNER, [&] { return opened(all); }).empty());
    }));
}

// ---- what he connects to -----------------------------------------------------------------------

namespace {

// Ports of TCP at which those processes listen.
std::vector<uint16_t> listening(const std::vector<pid_t> &pids)
{
    const std::set<std::string> inodes = sockets_of(pids);
    std::ifstream table("/proc/net/tcp");
    std::vector<uint16_t> ports;

    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string number, local, remote, state, skipped, inode;
        words >> number >> local >> remote >> state;
        for (int i = 0; i < 5; i++)
            words >> skipped;
        words >> inode;
        if (state == "0A" && inodes.count(inode))
            ports.push_back(
                static_cast<uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
    }
    return ports;
}

// Addresses of their Unix sockets, an @ for the zero byte of abstract ones.
std::vector<std::string> unix_names(const std::vector<pid_t> &pids)
{
    const std::set<std::string> inodes = sockets_of(pids);
    std::ifstream table("/proc/net/unix");
    std::vector<std::string> names;

    for (std::string line; std::getline(table, line);) {
        std::istringstream words(line);
        std::string skipped, inode, name;
        for (int i = 0; i < 6; i++)
            words >> skipped;
        if (words >> inode >> name && inodes.count(inode))
            names.push_back(name);
    }
    return names;
}

// A job's server that he said garbage to, and what it answered within a moment.
std::string garbage_to(const sockaddr *address, socklen_t length)
{
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    std::minstd_rand random(7);
    std::string garbage(4096, 0), answer(4096, 0);
    pollfd ready = {fd, POLLOUT, 0};

    std::generate(garbage.begin(), garbage.end(), [&] { return static_cast<char>(random()); });
    connect(fd, address, length);
    poll(&ready, 1, 1000);
    send(fd, garbage.data(), garbage.size(), MSG_NOSIGNAL);
    ready.events = POLLIN;
    poll(&ready, 1, 200);
    const ssize_t n = recv(fd, answer.data(), answer.size(), 0);
    close(fd);
    answer.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return answer;
}

Lines garbage_to_port(uint16_t port)
{
    sockaddr_in address = {};

    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string answer = garbage_to(reinterpret_cast<sockaddr *>(&address), sizeof address);
    return answer.empty() ? Lines{} : Lines{"port " + std::to_string(port) + ": " + answer};
}

Lines garbage_to_name(const std::string &name)
{
    sockaddr_un address = {};
    const size_t length = std::min(name.size(), sizeof address.sun_path);

    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), length);
    if (name[0] == '@')
        address.sun_path[0] = 0;
    const std::string answer =
        garbage_to(reinterpret_cast<sockaddr *>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
    return answer.empty() ? Lines{} : Lines{name + ": " + answer};
}

} // namespace

TEST_CASE("another user who says garbage to a job's sockets is told nothing, and does no harm")
{
    if (!may_run())
        return;
    const Ground ground({launcher(), ROUNDS});

    check_right(run_rounds(ground, {"-n", "4", "--nodes", "2"}, 2, [&] {
        const std::vector<pid_t> pids = ground.processes();
        const std::vector<uint16_t> ports = listening(pids);
        const std::vector<std::string> names = unix_names(pids);
        const Lines told = as_user(STRANGER, [&] {
            Lines answers;
            for (int again = 0; again < 2; again++) {
                for (const uint16_t port : ports)
                    for (const std::string &line : garbage_to_port(port))
                        answers.push_back(line);
                for (const std::string &name : names)
                    for (const std::string &line : garbage_to_name(name))
                        answers.push_back(line);
            }
            return answers;
        });
        INFO(ports.size() << " ports and " << names.size() << " names" << joined(told));
        CHECK(ports.size() + names.size() > 0); // PMIx's, at least
        CHECK(told.empty());
    }));
}

// ---- what he puts in its way --------------------------------------------------------------------

namespace {

// Names as the launcher's of the owner's jobs, most of which lead to something of the owner's.
Lines squat(const Ground &ground, uid_t victim)
{
    const std::string prefix = ground.shared() + "/unetrun-" + std::to_string(victim) + "-";
    const std::string own = ground.own();
    Lines made;

    for (int i = 0; i < 200; i++) {
        const std::string name = prefix + std::to_string(i) + "-0123456789abcdef.0";
        std::error_code error;
        if (i % 4 == 0)
            fs::create_directory_symlink(own + "/precious", name, error);
        else if (i % 4 == 1)
            fs::create_symlink(own + "/precious/file", name, error);
        else if (fs::create_directory(name, error))
            fs::create_directory_symlink(own + "/precious", name + "/inside", error);
        fs::permissions(name, fs::perms::all, fs::perm_options::nofollow, error);
        if (fs::exists(fs::symlink_status(name)))
            made.push_back(name);
    }
    return made;
}

// As many ports as he can have, until he is killed.
void hold_ports()
{
    rlimit most;

    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    for (int i = 0; i < 8000; i++) {
        sockaddr_in any = {};
        any.sin_family = AF_INET;
        any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int fd = socket(AF_INET, i % 2 ? SOCK_DGRAM : SOCK_STREAM, 0);
        if (fd < 0 || bind(fd, reinterpret_cast<sockaddr *>(&any), sizeof any) != 0)
            break;
    }
    pause();
}

} // namespace

TEST_CASE("names and ports that another user has taken in advance lead a job nowhere")
{
    if (!may_run())
        return;
    const uid_t victim = GENERATE(as<uid_t>{}, OWNER, 0); // root may remove what is not his
    const Ground ground({launcher(), ROUNDS}, victim);
    as_user(OWNER, [&] {
        fs::create_directory(ground.own() + "/precious");
        write_file(ground.own() + "/precious/file", "kept");
        return Lines{};
    });
    const Lines made = as_user(STRANGER, [&] { return squat(ground, victim); });
    REQUIRE(made.size() == 200);
    const Companion holder(STRANGER, hold_ports);

    check_right(run_rounds(ground, {"-n", "4", "--nodes", "2"}, 1, [] {}));
    CHECK(read_file(ground.own() + "/precious/file") == "kept");
    for (const std::string &name : made) {
        INFO(name);
        CHECK(fs::exists(fs::symlink_status(name)));
        if (fs::is_directory(fs::symlink_status(name)))
            CHECK(std::distance(fs::directory_iterator(name), fs::directory_iterator()) == 1);
    }
    CHECK(files_below(ground.shared()).size() >= made.size());
}

namespace {

bool binds(uint16_t port, int type, int family, bool all, int option)
{
    sockaddr_storage place = {};
    auto *ip4 = reinterpret_cast<sockaddr_in *>(&place);
    auto *ip6 = reinterpret_cast<sockaddr_in6 *>(&place);
    const int fd = socket(family, type | SOCK_CLOEXEC, 0), on = 1;

    place.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) {
        ip4->sin_port = htons(port);
        ip4->sin_addr.s_addr = htonl(all ? INADDR_ANY : INADDR_LOOPBACK);
    } else {
        ip6->sin6_port = htons(port);
    }
    if (option != 0)
        setsockopt(fd, SOL_SOCKET, option, &on, sizeof on);
    const bool bound = bind(fd, reinterpret_cast<sockaddr *>(&place), sizeof place) == 0;
    const bool heard = bound && (type == SOCK_DGRAM || listen(fd, 8) == 0);
    close(fd);
    return heard;
}

// The ways in which the port is to be had, though it is somebody's.
Lines stolen(uint16_t port, int type)
{
    Lines ways;

    for (const int option : {0, SO_REUSEADDR, SO_REUSEPORT})
        for (const auto &[family, all] :
             {std::pair(AF_INET, false), {AF_INET, true}, {AF_INET6, true}})
            if (binds(port, type, family, all, option))
                ways.push_back("port " + std::to_string(port) + (all ? " of all addresses" : "") +
                               ", option " + std::to_string(option));
    return ways;
}

} // namespace

TEST_CASE("a job's ports are not to be had while it runs")
{
    if (!may_run())
        return;
    const Ground ground({launcher(), ROUNDS});

    check_right(run_rounds(ground, {"-n", "2", "--backend", "udp"}, 1, [&] {
        const std::vector<pid_t> pids = ground.processes();
        const std::vector<uint16_t> udp = udp_ports_of(pids), tcp = listening(pids);
        const Lines ways = as_user(STRANGER, [&] {
            Lines all;
            for (const auto &[ports, type] : {std::pair(udp, SOCK_DGRAM), {tcp, SOCK_STREAM}})
                for (const uint16_t port : ports)
                    for (const std::string &way : stolen(port, type))
                        all.push_back(way);
            return all;
        });
        INFO("taken away" << joined(ways));
        CHECK(udp.size() == 2);
        CHECK(tcp.size() == 1);
        CHECK(ways.empty());
        CHECK(as_user(STRANGER, [&] { return stolen(0, SOCK_DGRAM); }).size() ==
              9); // else he cannot bind
    }));
}

// ---- what he sends ------------------------------------------------------------------------------

namespace {

// To a port of this machine, from one of his own.
class Sender {
public:
    Sender() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))
    {
        to_.sin_family = AF_INET;
        to_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    ~Sender() { close(fd_); }
    Sender(const Sender &) = delete;
    Sender &operator=(const Sender &) = delete;

    bool send(uint16_t port, const Bytes &bytes)
    {
        to_.sin_port = htons(port);
        return sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr *>(&to_),
                      sizeof to_) == static_cast<ssize_t>(bytes.size());
    }

private:
    int fd_;
    sockaddr_in to_ = {};
};

// What was heard as it was, altered, cut off, or not at all like it.
Bytes variation(Bytes bytes, std::minstd_rand &random)
{
    switch (random() % 4) {
    case 0:
        break;
    case 1:
        bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1 << random() % 8);
        break;
    case 2:
        bytes.resize(random() % bytes.size());
        break;
    default:
        std::generate(bytes.begin() + (random() % 2 ? 24 : 0), bytes.end(),
                      [&] { return static_cast<uint8_t>(random()); });
    }
    return bytes;
}

// Says it all to all of them for that long.  Returns how many datagrams went.
Lines replay(const std::vector<Bytes> &heard, const std::vector<uint16_t> &ports,
             std::chrono::milliseconds time)
{
    const auto end = std::chrono::steady_clock::now() + time;
    std::minstd_rand random(11);
    Sender sender;
    long sent = 0;

    while (std::chrono::steady_clock::now() < end)
        for (const uint16_t port : ports)
            sent += sender.send(port, variation(heard[random() % heard.size()], random));
    return {std::to_string(sent)};
}

} // namespace

TEST_CASE("what another user heard on the network and says again, or forges, is nobody's")
{
    if (!may_run())
        return;
    const Ground ground({launcher(), ROUNDS});
    const Tap tap;

    check_right(run_rounds(ground, {"-n", "4", "--backend", "udp"}, 4, [&] {
        const std::vector<uint16_t> ports = udp_ports_of(ground.processes());
        REQUIRE(ports.size() == 4);
        const auto heard = tap.hear({ports.begin(), ports.end()}, 500, 10s);
        REQUIRE(heard.size() == 500); // root's help: he may not listen himself
        const Lines sent = as_user(STRANGER, [&] { return replay(heard, ports, 1500ms); });
        REQUIRE(sent.size() == 1);
        CHECK(std::stol(sent[0]) > 1000);
    }));
}

// ---- a flood -----------------------------------------------------------------------------------

namespace {

// Garbage to the job's ports while the number in that file is odd, as fast as it goes; else as much
// to a socket of his own that nobody reads: what the sender's processor costs is no matter of ours.
void flood(const std::string &phase_file, const std::vector<uint16_t> &ports)
{
    sockaddr_in own = {};
    socklen_t length = sizeof own;
    const int sink = socket(AF_INET, SOCK_DGRAM, 0);
    std::minstd_rand random(13);
    Sender sender;

    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(sink, reinterpret_cast<sockaddr *>(&own), sizeof own);
    getsockname(sink, reinterpret_cast<sockaddr *>(&own), &length);
    for (;;) {
        int phase = 0;
        std::ifstream(phase_file) >> phase;
        for (int i = 0; i < 2000; i++) {
            const Bytes garbage(1 + random() % 1400, static_cast<uint8_t>(random()));
            sender.send(phase % 2 ? ports[random() % ports.size()] : ntohs(own.sin_port), garbage);
        }
    }
}

// The rounds of each phase, as the job told.
std::vector<double> rounds_in(const std::string &text)
{
    std::istringstream lines(text);
    std::vector<double> rounds;

    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        double number, count;
        if (words >> word >> number >> count && word == "phase:")
            rounds.push_back(count);
    }
    return rounds;
}

// Flooded phases beside the others, of one run.
double share_that_is_left()
{
    const Ground ground({launcher(), ROUNDS});
    Command command =
        ground.job({"-n", "2", "--backend", "udp", "rounds", "8", "1.5", ground.own()});
    std::optional<Companion> flooder;
    double flooded = 0, quiet = 0;

    command.meanwhile = [&](pid_t) {
        REQUIRE(eventually([&] { return is_in_phase(ground, 0); }, 30s));
        const std::vector<uint16_t> ports = udp_ports_of(ground.processes());
        REQUIRE(ports.size() == 2);
        REQUIRE(eventually([&] { return is_in_phase(ground, 1); }, 30s)); // the first warms up
        flooder.emplace(STRANGER, [&] { flood(ground.own() + "/phase", ports); });
    };
    const Outcome outcome = run(command);
    check_right(outcome);
    const std::vector<double> rounds = rounds_in(outcome.out);
    REQUIRE(rounds.size() == 8);
    for (size_t i = 2; i < rounds.size(); i++)
        (i % 2 ? flooded : quiet) += rounds[i];
    UNSCOPED_INFO(outcome.out);
    return flooded / quiet;
}

} // namespace

// A machine that others use may keep it from that once, but not each time.
TEST_CASE("a job under a flood of garbage keeps half of its throughput", "[long]")
{
    if (!may_run())
        return;
    double best = 0;

    for (int tries = 0; tries < 5 && best < 0.5; tries++)
        best = std::max(best, share_that_is_left());
    CHECK(best >= 0.5);
}
