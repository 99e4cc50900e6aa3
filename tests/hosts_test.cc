// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs on several hosts by ssh: that they run, what is said when they cannot, and that they
// leave nothing behind whatever dies.  As root only.
#include "quoted.h"
#include "splitc_run.h"
#include "testbed/hosts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <map>
#include <netinet/in.h>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::Matches;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

constexpr auto aftermath = 20s; // for everything of a job to be gone from every host

// As in `if (Bed bed{2})`: hosts, or a word why there are none.
class Bed {
public:
    explicit Bed(int count)
    {
        if (const std::string obstacle = Hosts::obstacle(); obstacle.empty())
            hosts_.emplace(count);
        else
            WARN("not run: " + obstacle);
    }
    explicit operator bool() const { return hosts_.has_value(); }
    const Hosts *operator->() const { return &*hosts_; }

    Command job(const Words &words) const
    {
        Command command{{launcher(), "--hosts", hosts_->all(), "--rsh", hosts_->rsh()}};
        command.arguments.insert(command.arguments.end(), words.begin(), words.end());
        command.environment = {"TMPDIR=" + folder_.path.string()};
        return command;
    }

    void check_clean() const
    {
        const bool gone = eventually([&] { return hosts_->guests().empty(); }, aftermath);
        for (const pid_t pid : hosts_->guests())
            UNSCOPED_INFO("left: " << pid << " " << read_file(command_line_of(pid)));
        CHECK(gone);
        for (const auto &file : fs::directory_iterator(folder_.path))
            UNSCOPED_INFO("left: " << file.path());
        CHECK(eventually([&] { return fs::is_empty(folder_.path); }, aftermath));
    }

    std::string file(const std::string &name) const { return files_ / name; }

    // Waits until so many ranks have made a file there by `touch $READY/$PMIX_RANK`.
    bool all_up(std::size_t ranks) const
    {
        return eventually(
            [&] {
                const fs::directory_iterator all(files_.path);
                return static_cast<std::size_t>(std::distance(begin(all), end(all))) == ranks;
            },
            30s);
    }
    std::string ready() const { return files_.path; }

private:
    static std::string command_line_of(pid_t pid)
    {
        return "/proc/" + std::to_string(pid) + "/cmdline";
    }

    TemporaryFolder folder_, files_;
    std::optional<Hosts> hosts_;
};

std::string name_of(pid_t pid)
{
    std::string name = read_file("/proc/" + std::to_string(pid) + "/comm");
    return name.substr(0, name.find('\n'));
}

std::vector<pid_t> named(const std::vector<pid_t> &pids, const std::string &name)
{
    std::vector<pid_t> found;
    for (const pid_t pid : pids)
        if (name_of(pid) == name)
            found.push_back(pid);
    return found;
}

const char *const tell_host = "echo rank $PMIX_RANK on $(hostname)";

std::string files_in(const fs::path &folder)
{
    std::string names;
    for (const auto &file : fs::directory_iterator(folder))
        names += file.path().filename().string() + "\n";
    return names;
}

// Tells that it is there, has children, one of which hides, and waits for ever.
std::string endless(const Bed &bed)
{
    return "sleep 1000 & setsid sleep 1000 & touch " + quoted(bed.ready()) + "/$PMIX_RANK; wait";
}

} // namespace

// Networks that come get the numbers of those that have gone.
TEST_CASE("hosts that end take nothing with them that began meanwhile")
{
    if (const std::string obstacle = Hosts::obstacle(); !obstacle.empty()) {
        WARN("not run: " + obstacle);
        return;
    }
    const TemporaryFolder folder;
    const std::string strangers = "cd " + quoted(folder.path) +
                                  R"(; until [ -e go ]; do sleep 0.01; done
        while [ ! -e stop ]; do unshare --net sleep 100 & all="$all $!"; done
        sleep 0.1
        for pid in $all; do
            kill $pid; wait $pid
            [ $? = 143 ] && echo alive || echo killed
        done)";
    Command command{{"sh", "-c", strangers}};
    command.meanwhile = [&](pid_t) {
        {
            const Hosts hosts(3);
            std::ofstream(folder / "go");
        }
        std::ofstream(folder / "stop");
    };
    CHECK_THAT(run(command).out, Contains("alive") && !Contains("killed"));
}

TEST_CASE("ranks run on their hosts, and know each other")
{
    Bed bed(4);
    if (!bed)
        return;
    const Outcome plain = run(bed.job({"--ppn", "2", "sh", "-c", tell_host}));
    INFO(plain.err);
    CHECK(plain.code == 0);
    for (int rank = 0; rank < 8; rank++)
        CHECK_THAT(plain.out, Contains("rank " + std::to_string(rank) + " on host" +
                                       std::to_string(rank / 2 + 1) + "\n"));
    const Outcome pmix = run(bed.job({"--ppn", "2", "--fanout", "1", PMIX_CLIENT}));
    INFO(pmix.err);
    CHECK(pmix.code == 0);
    CHECK_THAT(pmix.out, Contains("rank 7 got 8 cards") && Contains("node 3 of 4"));
    bed.check_clean();
}

TEST_CASE("one job after the other runs on eight hosts, in a tree")
{
    Bed bed(8);
    if (!bed)
        return;
    for (const char *fanout : {"2", "32"}) {
        const Outcome outcome = run(bed.job({"--fanout", fanout, "--ppn", "2", PMIX_CLIENT}));
        INFO(outcome.err);
        CHECK(outcome.code == 0);
        CHECK_THAT(outcome.out, Contains("rank 15 got 16 cards"));
    }
    bed.check_clean();
}

TEST_CASE("ranks learn at which address other hosts reach them")
{
    Bed bed(2);
    if (!bed)
        return;
    const Words show{"sh", "-c", "echo $UNET_INTERFACE"};
    CHECK_THAT(run(bed.job(show)).out, Contains("10.78.0.1\n") && Contains("10.78.0.2\n"));
    Words told{"--net", "10.78.0.0/24"};
    told.insert(told.end(), show.begin(), show.end());
    CHECK(run(bed.job(told)).out == "10.78.0.0/24\n10.78.0.0/24\n");
}

TEST_CASE("this machine among the hosts needs no ssh, and the others reach it")
{
    Bed bed(2);
    if (!bed)
        return;
    const TemporaryFolder tools;
    const std::string ssh = tools / "ssh", asked = tools / "asked";
    write_file(ssh,
               "#!/bin/sh\necho \"$@\" >>" + asked + "\nexec /usr/bin/" + bed->rsh() + " \"$@\"\n");
    fs::permissions(ssh, fs::perms(0755));
    const std::string hosts = GENERATE("host1,host2", "localhost,host2", "host2,127.0.0.1");
    Command show = bed.job({}), compute = bed.job({});
    show.environment.push_back("PATH=" + tools.path.string() + ":" + std::getenv("PATH"));
    show.environment.push_back("SSH_CONNECTION=10.9.9.9 1 10.9.9.8 2"); // of our own session
    show.arguments = {launcher(), "--hosts", hosts, "sh", "-c", "echo $(hostname) $UNET_INTERFACE"};
    compute = show;
    compute.arguments = {launcher(),         "--hosts", hosts,  "--ppn",  "2",
                         benchmark("ssort"), "--keys",  "2000", "--check"};
    const Outcome shown = run(show);
    INFO(shown.err);
    CHECK_THAT(shown.out, Contains("host1 10.78.0.1\n") && Contains("host2 10.78.0.2\n"));
    CHECK_THAT(read_file(asked), Contains(" host2 ") && !Contains(" host1 ") &&
                                     !Contains(" localhost ") && !Contains(" 127.0.0.1 "));
    const Outcome computed = run(compute);
    INFO(computed.out << computed.err);
    CHECK(computed.code == 0);
    bed.check_clean();
}

TEST_CASE("the best network that all hosts have is chosen, and told")
{
    Bed bed(2);
    if (!bed)
        return;
    const Words show{"sh", "-c", "echo by ${SPLITC_NETWORK-nothing}"};
    const auto told = [&](Words options) {
        options.insert(options.begin(), "-v");
        options.insert(options.end(), show.begin(), show.end());
        const Outcome outcome = run(bed.job(options));
        return outcome.out + outcome.err;
    };
    CHECK_THAT(told({}), Contains("by udp\nby udp\n") && Contains("between the hosts is udp") &&
                             Contains("; not fe, as host1: No such device"));
    CHECK_THAT(told({"--backend", "shm,udp"}), Contains("by nothing\n"));
}

// ---- Split-C programs -----------------------------------------------------------------------

void check_sort(const Bed &bed, const std::string &program, const std::string &network,
                const Words &wrapper = {})
{
    Keys keys(20000);
    std::mt19937 random(5);
    for (auto &key : keys)
        key = static_cast<std::uint32_t>(random());
    write_keys(bed.file("in"), keys);
    Words words{"--ppn", "2", network};
    words.insert(words.end(), wrapper.begin(), wrapper.end());
    words.insert(words.end(), {benchmark(program), "--input", bed.file("in"), "--output",
                               bed.file("out"), "--check"});
    const Outcome outcome = run(bed.job(words));
    INFO(program << " " << network << ": " << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    std::sort(keys.begin(), keys.end());
    CHECK((read_keys(bed.file("out")) == keys)); // without printing them
}

TEST_CASE("Split-C programs sort on two hosts, over a good network and a bad one")
{
    Bed bed(2);
    if (!bed)
        return;
    using Way = std::pair<std::string, std::string>;
    const auto [program, network] =
        GENERATE(Way("ssort", "--backend=auto"), Way("rsort", "--backend=udp"),
                 Way("rsort", "--backend=shm,eth"), Way("ssort", "--backend=shm,ofi"),
                 Way("ssort", "--chaos=loss=0.05,dup=0.02,reorder=0.1,flip=0.001,seed=7"));
    check_sort(bed, program, network);
    bed.check_clean();
}

// A unetni on each of two hosts.
class Services {
public:
    explicit Services(const Bed &bed) : bed_(bed)
    {
        for (int host = 1; host <= 2; host++)
            pids_.push_back(start(bed->sshd(host)));
    }
    ~Services()
    {
        for (const pid_t pid : pids_)
            kill(pid, SIGTERM);
        CHECK(eventually([&] { return named(bed_->guests(), "unetni").empty(); }, aftermath));
    }
    Services(const Services &) = delete;
    Services &operator=(const Services &) = delete;

    void kill_one() const { kill(pids_[1], SIGKILL); }

private:
    static pid_t start(pid_t on)
    {
        const Outcome outcome = run(
            {{"nsenter", "-n", "-m", "-t", std::to_string(on), "sh", "-c",
              "mkdir -p /run/unetni\n" + quoted(BUILD_FOLDER "/bin/unetni") +
                  " --interface eth0 >/dev/null 2>&1 & echo $!\n"
                  "for i in $(seq 500); do [ -S /run/unetni/eth0 ] && exit; sleep 0.01; done"}});
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return static_cast<pid_t>(std::stol(outcome.out));
    }

    const Bed &bed_;
    std::vector<pid_t> pids_;
};

// What has no capability, although it is root.
const Words without_privileges{"setpriv", "--bounding-set=-all", "--inh-caps=-all"};

TEST_CASE("Programs without privileges sort over unetni, also after it was started again")
{
    Bed bed(2);
    if (!bed)
        return;
    for (int round = 0; round < 2; round++) {
        const Services services(bed);

        check_sort(bed, "ssort", "--backend=shm,ni", without_privileges);
    }
    bed.check_clean();
}

TEST_CASE("A job whose unetni is killed ends and says so")
{
    Bed bed(2);
    if (!bed)
        return;
    Services services(bed);
    Command job = bed.job({"--ppn", "1", "--backend=shm,ni", ENDLESS, bed.ready()});
    job.meanwhile = [&](pid_t) {
        bed.all_up(2);
        services.kill_one();
    };
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = run(job);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code != 0);
    CHECK_THAT(outcome.err, Contains("unetni"));
    CHECK(std::chrono::steady_clock::now() - start < 30s);
}

TEST_CASE("Split-C programs multiply matrices on two hosts")
{
    Bed bed(2);
    if (!bed)
        return;
    const std::string network = GENERATE(as<std::string>(), "--backend=auto", "--backend=udp",
                                         "--backend=shm,eth", "--backend=shm,ofi");
    const Outcome outcome = run(bed.job({"--ppn", "2", network, benchmark("mm"), "--blocks", "5",
                                         "--block-size", "33", "--check"}));
    INFO(network << ": " << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, Contains("165 x 165") && Contains("verified"));
    bed.check_clean();
}

// Whatever is longer than host2 takes vanishes.
TEST_CASE("Split-C programs sort on two hosts whose networks take packets of different lengths")
{
    Bed bed(2);
    if (!bed)
        return;
    REQUIRE(run({{"nsenter", "-n", "-t", std::to_string(bed->sshd(1)), "ip", "link", "set", "eth0",
                  "mtu", "9000"}})
                .code == 0);
    const std::string network = GENERATE(as<std::string>(), "--backend=auto", "--backend=shm,eth");
    check_sort(bed, "ssort", network);
    bed.check_clean();

    // Long enough for all probes to have got lost.
    const Outcome outcome =
        run(bed.job({"-v", network, benchmark("mm"), "--blocks", "24", "--block-size", "33"}));
    INFO(network << ": " << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.err, Contains("splitc: rank 0: on 1 of the ways to other ranks only packets "
                                     "shorter than our interface's pass; give all interfaces"));
}

namespace {

// The numbers in the line that begins with `name` and a colon.
std::vector<double> numbers_of(const std::string &text, const std::string &name)
{
    std::istringstream lines(text);
    std::vector<double> numbers;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        if (words >> word && word == name + ":")
            for (double number; words >> number;)
                numbers.push_back(number);
    }
    return numbers;
}

// A counter of UDP's on a host, named as in /proc/net/snmp.
double udp_counter(pid_t sshd, const std::string &name)
{
    const Outcome found =
        run({{"nsenter", "-n", "-t", std::to_string(sshd), "cat", "/proc/net/snmp"}});
    std::istringstream lines(found.out);
    std::string line, word;
    while (std::getline(lines, line) && !line.starts_with("Udp: "))
        continue;
    std::istringstream names(line);
    std::size_t at = 0;
    while (names >> word && word != name)
        at++;
    std::getline(lines, line);
    std::istringstream values(line);
    for (std::size_t i = 0; i <= at; i++)
        values >> word;
    return std::stod(word);
}

} // namespace

// How fast, the cores tell that they all share; but none may be left behind, and no senders so
// many that the receiver's buffer overflows.
TEST_CASE("many hosts that send to one neither starve one of them nor choke it")
{
    Bed bed(8);
    if (!bed)
        return;
    const std::string network = GENERATE(as<std::string>(), "--backend=udp", "--backend=shm,eth");
    double worst = 0, lost = 1;
    for (int tries = 0; tries < 3 && (worst <= 0.25 || lost > 0.01); tries++) { // others use cores
        const double came = udp_counter(bed->sshd(1), "InDatagrams");
        const double dropped = udp_counter(bed->sshd(1), "RcvbufErrors");
        const Outcome outcome = run(bed.job({network, MANY_TO_ONE, "2"}));
        INFO(network << ": " << outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const std::vector<double> all = numbers_of(outcome.out, "all");
        REQUIRE(all.size() == 7);
        const double mean = std::accumulate(all.begin(), all.end(), 0.0) / 7;
        worst = *std::min_element(all.begin(), all.end()) / mean;
        const double arrived = udp_counter(bed->sshd(1), "InDatagrams") - came;
        lost = arrived > 0 ? (udp_counter(bed->sshd(1), "RcvbufErrors") - dropped) / arrived : 0;
    }
    CHECK(worst > 0.25);
    CHECK(lost <= 0.01);
    bed.check_clean();
}

TEST_CASE("ranks of a host share memory, in jobs that have such, and have their own elsewhere")
{
    struct Job {
        Words words;
        std::vector<std::string> told;
    };
    const Job job =
        GENERATE(Job{{"--ppn", "1", SHARING}, {"0 reaches 0: own", "1 reaches 0: own"}},
                 Job{{"--ppn", "2", "-n", "3", SHARING},
                     {"0 reaches 1: shared", "1 reaches 1: shared", "2 reaches 0: shared"}},
                 Job{{"--ppn", "2", "-x", "SPLITC_WINDOWS=0", SHARING},
                     {"0 reaches 0: own", "3 reaches 0: own"}});
    Bed bed(2);
    if (!bed)
        return;
    const Outcome outcome = run(bed.job(job.words));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    for (const std::string &line : job.told)
        CHECK_THAT(outcome.out, Contains(line + "\n"));
    bed.check_clean();
}

TEST_CASE("a network that lets nothing pass is told")
{
    Bed bed(2);
    if (!bed)
        return;
    const bool silent = GENERATE(true, false); // as a firewall does it; or nobody is there
    for (int host : {1, 2}) {
        const std::string script = "ip link add out type veth peer name nowhere;"
                                   "ip link set nowhere up; ip link set out up;"
                                   "ip addr add 10.99.0." +
                                   std::to_string(host) + "/24 dev out;" +
                                   (silent ? "ip neigh add 10.99.0." + std::to_string(3 - host) +
                                                 " lladdr 02:00:00:00:00:01 dev out"
                                           : "");
        REQUIRE(run({{"nsenter", "-n", "-t", std::to_string(bed->sshd(host)), "sh", "-ec", script}})
                    .code == 0);
    }
    const Outcome outcome = run(
        bed.job({"--net", "10.99.0.0/24", "--peer-timeout", "3", BUILD_FOLDER "/examples/ring"}));
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Contains("nothing has ever come from rank ") && Contains("--net"));
    bed.check_clean();
}

TEST_CASE("a network that a host does not have is told")
{
    Bed bed(2);
    if (!bed)
        return;
    const Outcome outcome = run(bed.job({"--iface", "no-such", BUILD_FOLDER "/examples/ring"}));
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err,
               Contains("cannot open an endpoint at no-such: ") && Contains("--iface"));
    bed.check_clean();
}

namespace {

// Has all ports of this host that the kernel chooses from by itself, which are few then.
class AllPorts {
public:
    explicit AllPorts(int type)
    {
        write_file("/proc/sys/net/ipv4/ip_local_port_range", "40000 40063\n");
        while (take(type))
            continue;
    }
    ~AllPorts()
    {
        for (const int fd : sockets_)
            close(fd);
    }
    AllPorts(const AllPorts &) = delete;
    AllPorts &operator=(const AllPorts &) = delete;

    std::size_t count() const { return sockets_.size(); }

private:
    bool take(int type)
    {
        const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
        const sockaddr_in any{AF_INET, 0, {INADDR_ANY}, {}};
        if (bind(fd, reinterpret_cast<const sockaddr *>(&any), sizeof any) != 0) {
            close(fd);
            return false;
        }
        sockets_.push_back(fd);
        return true;
    }

    std::vector<int> sockets_;
};

} // namespace

TEST_CASE("ports that are all in use are told")
{
    Bed bed(2);
    if (!bed)
        return;
    const std::string ring = BUILD_FOLDER "/examples/ring";
    SECTION("those of UDP")
    {
        const AllPorts ports(SOCK_DGRAM);
        REQUIRE(ports.count() == 64);
        const Outcome outcome = run(bed.job({"--backend", "udp", ring}));
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err, Contains("rank 0: backend \"udp\" cannot open an endpoint at "
                                         "10.78.0.1: Address already in use; all UDP ports there"));
    }
    SECTION("those of TCP, which ssh wants")
    {
        const AllPorts ports(SOCK_STREAM);
        REQUIRE(ports.count() == 64);
        const Outcome outcome = run(bed.job({ring}));
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err,
                   Contains("cannot be reached: ") && Contains("see that a TCP port is free here"));
    }
    SECTION("those of TCP, which ranks and daemon want")
    {
        const AllPorts ports(SOCK_STREAM);
        const Outcome outcome = run({{launcher(), "-n", "2", ring}});
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err, Contains("unetrun: all TCP ports of 127.0.0.1 are in use"));
    }
    bed.check_clean();
}

// ---- hosts that cannot be used --------------------------------------------------------------

TEST_CASE("why a host cannot be used is told, with what to do")
{
    Bed bed(2);
    if (!bed)
        return;
    SECTION("its name is not known")
    {
        Command command = bed.job({"true"});
        command.arguments[2] = "host1,nowhere.invalid";
        const Outcome outcome = run(command);
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err,
                   Contains("nowhere.invalid is not known: ") && Contains("check the name"));
    }
    SECTION("nothing listens there")
    {
        kill(bed->sshd(2), SIGSTOP); // so that the namespaces stay ...
        Command command = bed.job({"true"});
        command.arguments[4] += " -p 2222"; // ... and another port is as good as no sshd
        const Outcome outcome = run(command);
        kill(bed->sshd(2), SIGCONT);
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err, Contains("Connection refused") && Contains("see that sshd runs"));
    }
    SECTION("it is not plugged in")
    {
        bed->unplug(2);
        const Outcome outcome = run(bed.job({"true"}));
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err, Contains("host2 cannot be reached: ") && Contains("it is up"));
    }
    SECTION("it refuses the key")
    {
        TemporaryFolder folder;
        CHECK(run({{"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "id"}}).code ==
              0);
        std::string config = read_file(bed->ssh_config());
        config.insert(config.find("IdentityFile"), "IdentityFile " + folder / "id\n    Unused");
        write_file(folder / "ssh_config", "IgnoreUnknown Unused*\n" + config);
        Command command = bed.job({"true"});
        command.arguments[4] = "ssh -F " + quoted(folder / "ssh_config");
        const Outcome outcome = run(command);
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err, Contains("refuses the key: ") && Contains("Permission denied") &&
                                    Contains("ssh-copy-id"));
    }
    SECTION("its own key is another one")
    {
        Command command = bed.job({"true"});
        command.arguments[4] += " -o UserKnownHostsFile=/dev/null";
        const Outcome outcome = run(command);
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err, Contains("own key is not the known one") &&
                                    Contains("log in once by hand: ssh host"));
    }
    bed.check_clean();
}

TEST_CASE("a program that a host lacks is told, and --stage sends it")
{
    Bed bed(2);
    if (!bed)
        return;
    // host2 does not see the folder of the program: something else is mounted there
    TemporaryFolder folder;
    fs::copy_file("/bin/hostname", folder / "program");
    const std::string on_host2 = "nsenter -m -t " + std::to_string(bed->sshd(2));
    REQUIRE(std::system((on_host2 + " mount -t tmpfs tmpfs " + quoted(folder.path)).c_str()) == 0);
    const Outcome lacking = run(bed.job({folder / "program"}));
    CHECK(lacking.code == 127);
    CHECK_THAT(lacking.err, Contains("host2: cannot run " + folder / "program: No such file") &&
                                Contains("--stage"));
    const Outcome staged = run(bed.job({"--stage", folder / "program"}));
    INFO(staged.err);
    CHECK(staged.code == 0);
    CHECK_THAT(staged.out, Contains("host1\n") && Contains("host2\n"));
    bed.check_clean();
}

TEST_CASE("a host without unetrun is told")
{
    Bed bed(2);
    if (!bed)
        return;
    const std::string on_host2 = "nsenter -m -t " + std::to_string(bed->sshd(2));
    TemporaryFolder folder;
    write_file(folder / "unetrun", "");
    const std::string mount =
        " mount --bind " + quoted(folder / "unetrun") + " " + quoted(launcher());
    REQUIRE(std::system((on_host2 + mount).c_str()) == 0);
    const Outcome outcome = run(bed.job({"true"}));
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Contains("cannot run " + launcher() + " on host2: ") &&
                                Contains("install this version of unetrun there"));
    bed.check_clean();
}

// ---- sudden deaths --------------------------------------------------------------------------

TEST_CASE("a connection that is killed ends the job, and nothing is left on either side")
{
    Bed bed(3);
    if (!bed)
        return;
    const std::string victim = GENERATE("ssh", "sshd", "unetd-relay", "unetd");
    Command command = bed.job({"--ppn", "1", "--fanout", "1", "sh", "-c", endless(bed)});
    command.meanwhile = [&](pid_t) {
        CHECK(bed.all_up(3));
        const std::vector<pid_t> found = named(bed->guests(), victim);
        CHECK(found.size() >= 3);
        if (!found.empty())
            kill(found.back(), SIGKILL);
    };
    const Outcome outcome = run(command);
    INFO(victim << ": " << outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err,
               Matches("(.|\n)*unetrun: (lost the connection to host[123] |the daemon of host[123] "
                       "\\(pid [0-9]+\\) died)(.|\n)*; ending the job\n(.|\n)*"));
    bed.check_clean();
}

TEST_CASE("a rank that is killed ends the job over any network, and nothing is left on either side")
{
    Bed bed(2);
    if (!bed)
        return;
    const std::string network =
        GENERATE(as<std::string>(), "--backend=shm,udp", "--backend=shm,ofi");
    Command command = bed.job({"--ppn", "2", network, ENDLESS, bed.ready()});
    command.meanwhile = [&](pid_t) {
        CHECK(bed.all_up(4));
        const std::vector<pid_t> found = named(bed->guests(), "endless");
        CHECK(found.size() == 4);
        if (!found.empty())
            kill(found.back(), SIGKILL);
    };
    const Outcome outcome = run(command);
    INFO(network << ": " << outcome.err);
    CHECK(outcome.code == 128 + SIGKILL);
    CHECK_THAT(outcome.err, Contains("killed by signal 9"));
    bed.check_clean();
    for (const int host : {1, 2})
        CHECK(files_in("/proc/" + std::to_string(bed->sshd(host)) + "/root/dev/shm").empty());
}

// All that makes up a job, but not what a shell runs for itself at its start.
std::vector<pid_t> targets(const Bed &bed)
{
    const std::vector<pid_t> guests = bed->guests();
    std::vector<pid_t> found;
    for (const char *name :
         {"unetrun", "unetd", "unetd-relay", "ssh", "sshd", "unetrun_pmix_cl", "endless"})
        for (const pid_t pid : named(guests, name))
            found.push_back(pid);
    return found;
}

// Kills any process of a job of 8 ranks on 2 hosts, sshd's own among them.
void strike(const Bed &bed, std::mt19937 &random)
{
    const auto delay = std::chrono::milliseconds(random() % 2500);
    std::string victim;
    const bool split_c = random() % 2 == 0;
    const TemporaryFolder ready;
    Command command = bed.job(split_c ? Words{"--ppn", "4", ENDLESS, ready.path}
                                      : Words{"--ppn", "4", PMIX_CLIENT, "hang"});

    command.meanwhile = [&](pid_t launcher_pid) {
        usleep(static_cast<useconds_t>(delay / 1us)); // any moment will do
        const std::vector<pid_t> all = targets(bed);
        const pid_t pid = all.empty() ? launcher_pid : all[random() % all.size()];
        victim = name_of(pid) + " " + std::to_string(pid);
        kill(pid, SIGKILL);
    };
    const Outcome outcome = run(command);
    INFO("after " << delay.count() << " ms, victim " << victim << ": " << outcome.err);
    CHECK(outcome.code > 0);
    if (victim.find("unetrun ") != 0)
        CHECK_THAT(outcome.err, Contains("unetrun: "));
    bed.check_clean();
}

void strike_often(int times)
{
    Bed bed(2);
    if (!bed)
        return;
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int i = 0; i < times; i++)
        strike(bed, random);
}

TEST_CASE("any process of a job may be killed at any moment")
{
    strike_often(8);
}

TEST_CASE("200 processes may be killed at any moment", "[long]")
{
    strike_often(200);
}

TEST_CASE("a host that is cut off ends the job", "[long]")
{
    Bed bed(2);
    if (!bed)
        return;
    Command command = bed.job({"--ppn", "2", "sh", "-c", endless(bed)});
    command.limit = 90s;
    command.meanwhile = [&](pid_t) {
        CHECK(bed.all_up(4));
        bed->unplug(2);
    };
    const Outcome outcome = run(command);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, Contains("no sign of life from host2 for 20 s"));
    // The other side ends as well, without hearing of it; its sshd then waits for TCP.
    CHECK(eventually([&] { return named(bed->guests(), "sleep").empty(); }, 40s));
    bed->plug_in(2);
}

TEST_CASE("a host that is cut off for a while comes back", "[long]")
{
    Bed bed(2);
    if (!bed)
        return;
    Command command =
        bed.job({"--ppn", "2", "sh", "-c",
                 "touch " + quoted(bed.ready()) + "/$PMIX_RANK; sleep 8; echo alive"});
    command.meanwhile = [&](pid_t) {
        CHECK(bed.all_up(4));
        bed->unplug(2);
        usleep(4000000); // how long it is cut off
        bed->plug_in(2);
    };
    const Outcome outcome = run(command);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "alive\nalive\nalive\nalive\n");
    bed.check_clean();
}

TEST_CASE("a suspended job stays so for as long as one likes", "[long]")
{
    Bed bed(2);
    if (!bed)
        return;
    Command command =
        bed.job({"sh", "-c", "touch " + quoted(bed.ready()) + "/$PMIX_RANK; sleep 2; echo alive"});
    command.meanwhile = [&](pid_t launcher_pid) {
        CHECK(bed.all_up(2));
        kill(launcher_pid, SIGTSTP);
        CHECK_FALSE(eventually([&] { return bed->guests().empty(); }, 30s));
        kill(launcher_pid, SIGCONT);
    };
    command.limit = 90s;
    const Outcome outcome = run(command);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "alive\nalive\n");
    bed.check_clean();
}
