// SPDX-License-Identifier: BSD-3-Clause
#include "unetni/harness.h"

#include "conformance/process.h"
#include "quoted.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

bool enter_wires(int mtu)
{
    const std::string of_mtu = " mtu " + std::to_string(mtu);

    return enter_network() &&
           std::system(
               ("ip link add unet0" + of_mtu + " type veth peer name unet1" + of_mtu +
                " && ip addr add 10.9.0.1/24 dev unet0 && ip addr add 10.9.0.2/24 dev unet1 && "
                "ip link set unet0 up && ip link set unet1 up")
                   .c_str()) == 0;
}

std::string why_not(const std::string &interface, const std::string &wire)
{
    if (wire != "xdp")
        return "";
    // A socket path that cannot be, so that it ends at once where the wire can be opened.
    const Outcome outcome =
        run_unetni({"--interface", interface, "--wire", wire, "--socket", "/nowhere/socket"});
    for (const char *reason : {"this build has no libxdp", "needs CAP_BPF", "needs CAP_NET_RAW",
                               "takes no XDP program", "takes no AF_XDP socket"})
        if (outcome.text.find(reason) != std::string::npos)
            return outcome.text;
    return ""; // or a fault, which the tests find
}

bool become_nobody()
{
    if (setgroups(0, nullptr) != 0 || setresgid(65534, 65534, 0) != 0 ||
        setresuid(65534, 65534, 0) != 0)
        return false;
    prctl(PR_SET_DUMPABLE, 1); // tests look into /proc/self
    return true;
}

// Services are root's.
class AsBefore {
public:
    AsBefore() : now_(geteuid()) { again(0); }
    ~AsBefore() { again(now_); }

private:
    static void again(uid_t uid)
    {
        if (setresuid(uid_t(-1), uid, uid_t(-1)) != 0)
            std::perror("setresuid");
        prctl(PR_SET_DUMPABLE, 1);
    }

    uid_t now_;
};

// ---- services ----------------------------------------------------------------------------

static std::vector<char *> words_of(const std::vector<std::string> &options)
{
    std::vector<char *> words{const_cast<char *>(UNETNI_PROGRAM)};

    for (const std::string &option : options)
        words.push_back(const_cast<char *>(option.c_str()));
    words.push_back(nullptr);
    return words;
}

static std::filesystem::path make_folder()
{
    const AsBefore root;
    char name[] = "/tmp/unetni-test-XXXXXX";

    REQUIRE(mkdtemp(name));
    REQUIRE(chmod(name, 0755) == 0);
    return name;
}

static bool answers(const std::string &path)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un at = {};

    at.sun_family = AF_UNIX;
    std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
    const bool good = connect(fd, reinterpret_cast<sockaddr *>(&at), sizeof at) == 0;
    close(fd);
    return good;
}

Service::Service(const std::vector<std::string> &options) : folder_(make_folder())
{
    std::vector<std::string> all = options;

    all.insert(all.end(), {"--socket", path()});
    const AsBefore root;
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        std::signal(SIGPIPE, SIG_DFL); // whatever the tests' own parent made of it
        execv(UNETNI_PROGRAM, words_of(all).data());
        _exit(127);
    }
    REQUIRE(eventually([&] { return answers(path()) || waitpid(pid_, nullptr, WNOHANG) != 0; }));
    REQUIRE(answers(path()));
}

std::vector<std::string> Service::at(const std::string &interface)
{
    return {"--interface", interface, "--mode", "666", "--max-megabytes", "4096"};
}

int Service::end(int signal)
{
    const AsBefore root;
    int status = -1;

    if (pid_ > 0) {
        kill(pid_, signal);
        waitpid(pid_, &status, 0);
    }
    pid_ = -1;
    return status;
}

Service::~Service()
{
    std::error_code ignored;

    end(SIGKILL);
    const AsBefore root;
    std::filesystem::remove_all(folder_, ignored);
}

// ---- switches ------------------------------------------------------------------------------

// It prints the setting UNET_ATM_CARRIER=... once it can be used.
AtmSwitch::AtmSwitch()
{
    const AsBefore root;
    int said[2];
    char text[256] = {};

    REQUIRE(pipe(said) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(said[1], STDOUT_FILENO);
        execl(UNETATM_PROGRAM, UNETATM_PROGRAM, nullptr);
        _exit(127);
    }
    close(said[1]);
    const ssize_t length = read(said[0], text, sizeof text - 1);
    close(said[0]);
    REQUIRE(length > 0);
    const std::string line(text);
    const size_t begin = line.find("cells:");
    REQUIRE(begin != line.npos);
    carrier_ = line.substr(begin, line.find_first_of(" \n'\"", begin) - begin);
}

void AtmSwitch::end()
{
    const AsBefore root;

    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
}

AtmSwitch::~AtmSwitch()
{
    end();
}

void use(const Service &service)
{
    setenv("UNET_NI_SOCKET", service.path().c_str(), 1);
}

Outcome run_unetni(const std::vector<std::string> &options)
{
    std::string command = quoted(UNETNI_PROGRAM);

    for (const std::string &option : options)
        command += " " + quoted(option);
    return run_shell("exec " + command);
}

Outcome run_shell(const std::string &script)
{
    Outcome outcome{};
    char part[256];

    FILE *pipe = popen(("timeout 5 sh -c " + quoted(script) + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    while (std::fgets(part, sizeof part, pipe))
        outcome.text += part;
    outcome.code = WEXITSTATUS(pclose(pipe));
    return outcome;
}
