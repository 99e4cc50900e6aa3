// SPDX-License-Identifier: BSD-3-Clause

#include "tree/rsh.h"

#include <array>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/fd.h"
#include "common/process.h"
#include "common/text.h"

namespace unetrun {

std::vector<std::string> split_words(const std::string &command)
{
    const auto words = quoted_words(command);
    if (!words || words->empty() || words->front().empty())
        throw Failure(exit_usage, "--rsh wants a command, as in 'ssh -F file', not \"" + command +
                                      "\"; see unetrun --help");
    return *words;
}

namespace {

// A word, quoted for the shell on the other side, whichever that is.
std::string quoted(const std::string &word)
{
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? "'\\''" : std::string(1, c);
    return text + "'";
}

// What ssh and shells print, what it means, and what to do.  HOST stands for the name of the host.
struct Explanation {
    const char *words, *meaning, *remedy;
};

const Explanation explanations[] = {
    {"Permission denied", "HOST refuses the key",
     "make 'ssh HOST true' work without a password (ssh-copy-id, ssh-agent)"},
    {"Host key verification failed", "HOST's own key is not the known one",
     "log in once by hand: ssh HOST"},
    {"Could not resolve hostname", "HOST is not known", "check the name"},
    {"Name or service not known", "HOST is not known", "check the name"},
    {"Connection refused", "HOST cannot be reached", "see that sshd runs there"},
    {"No route to host", "HOST cannot be reached", "see that it is up, and the routes to it"},
    {"Network is unreachable", "HOST cannot be reached", "check this machine's routes"},
    {"Cannot assign requested address", "HOST cannot be reached",
     "see that a TCP port is free here (ss -tanp), or widen net.ipv4.ip_local_port_range (sysctl)"},
    {"timed out", "HOST cannot be reached",
     "see that it is up, and that no firewall drops what goes there"},
};

std::string with_host(std::string text, const std::string &host)
{
    for (std::size_t at; (at = text.find("HOST")) != std::string::npos;)
        text.replace(at, 4, host);
    return text;
}

std::optional<std::string> known_trouble(const std::string &host, const std::string &words)
{
    for (const Explanation &known : explanations)
        if (words.find(known.words) != std::string::npos)
            return with_host(known.meaning, host) + ": " + words + "; " +
                   with_host(known.remedy, host);
    return std::nullopt;
}

bool exited_with(const RshEnding &ending, int code)
{
    return ending.status && WIFEXITED(*ending.status) && WEXITSTATUS(*ending.status) == code;
}

std::string start_trouble(const std::string &host, const std::vector<std::string> &rsh,
                          const std::string &unetrun, const RshEnding &ending)
{
    if (!ending.nonsense.empty())
        return "cannot talk to " + host + ": " + ending.nonsense +
               "; let the shell's start-up files there print nothing";
    if (exited_with(ending, exit_not_found) || exited_with(ending, exit_cannot_run))
        return "cannot run " + unetrun + " on " + host + ": " + ending.words +
               "; install this version of unetrun there, at the same path";
    if (const auto known = known_trouble(host, ending.words))
        return *known;
    return rsh.front() + " cannot start a daemon on " + host + ": " + ending_text(ending) +
           (ending.words.empty() ? "" : ", " + ending.words) + "; try " + rsh.front() + " " + host +
           " true";
}

} // namespace

std::string ending_text(const RshEnding &ending)
{
    if (!ending.status)
        return "it does not answer";
    if (WIFSIGNALED(*ending.status))
        return "killed by signal " + std::to_string(WTERMSIG(*ending.status)) + " (" +
               signal_text(WTERMSIG(*ending.status)) + ")";
    return "exit code " + std::to_string(WEXITSTATUS(*ending.status));
}

std::vector<std::string> rsh_command(const std::vector<std::string> &rsh, const std::string &host,
                                     const std::string &unetrun)
{
    std::vector<std::string> command = rsh;
    command.push_back(host);
    command.push_back("exec " + quoted(unetrun) + " --relay");
    return command;
}

Failure start_failure(const std::string &host, const std::vector<std::string> &rsh,
                      const std::string &unetrun, const RshEnding &ending)
{
    return Failure(exit_trouble, start_trouble(host, rsh, unetrun, ending));
}

Failure link_failure(const std::string &host, const RshEnding &ending)
{
    if (!ending.nonsense.empty())
        return Failure(exit_trouble, "cannot talk to " + host + " any more: " + ending.nonsense);
    return Failure(exit_trouble, "lost the connection to " + host + " (" + ending_text(ending) +
                                     (ending.words.empty() ? "" : ", " + ending.words) + ")");
}

// The address from which this machine reaches `host` is that at which `host` reaches it. Connecting
// a datagram socket sends nothing.
std::string connection_from(const std::string &host)
{
    addrinfo datagrams{};
    datagrams.ai_socktype = SOCK_DGRAM;
    addrinfo *found = nullptr;
    const std::string name = host.substr(host.find('@') + 1); // all of it without a user
    if (getaddrinfo(name.c_str(), "9", &datagrams, &found) != 0)
        return {};
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> peer(found, freeaddrinfo);
    const Fd fd(socket(peer->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own;
    socklen_t length = sizeof own;
    if (!fd || connect(fd.get(), peer->ai_addr, peer->ai_addrlen) != 0 ||
        getsockname(fd.get(), reinterpret_cast<sockaddr *>(&own), &length) != 0)
        return {};
    std::array<char, NI_MAXHOST> address{};
    if (getnameinfo(reinterpret_cast<sockaddr *>(&own), length, address.data(), address.size(),
                    nullptr, 0, NI_NUMERICHOST) != 0)
        return {};
    return name + " 9 " + address.data() + " 9";
}

} // namespace unetrun
