// SPDX-License-Identifier: BSD-3-Clause

#include "tree/start.h"

#include <cstdlib>
#include <filesystem>

#include "common/environment.h"
#include "tree/rsh.h"

namespace unetrun {

namespace {

std::string search_path()
{
    const char *path = std::getenv("PATH");
    return path ? path : "/usr/bin:/bin";
}

std::string find_remote_shell(const std::string &name)
{
    try {
        return find_program(name, search_path());
    } catch (const Failure &failure) {
        const char *package =
            std::filesystem::path(name).filename() == "ssh" ? " (Debian: openssh-client)" : "";
        throw Failure(failure.code, "--rsh: " + std::string(failure.what()) + "; install it" +
                                        package + " or name another one");
    }
}

// This program once more, in another role.
Spawn own_program(const char *name, const char *role, const Fd &socket, const sigset_t &signals)
{
    if (access("/proc/self/exe", X_OK) != 0)
        throw Failure(exit_trouble, "/proc is missing; mount it: mount -t proc proc /proc");
    Spawn what;
    what.file = "/proc/self/exe";
    what.arguments = {name, role};
    what.environment = own_environment();
    what.in = what.out = socket.get();
    what.signals = signals;
    what.session = true;
    return what;
}

// The relay gets the environment that it would have if another host had started it by ssh.
Spawn relay_here(const Tree &tree, const Fd &socket, const Fd &errors, const sigset_t &signals)
{
    const std::string &other = tree.hosts[tree.here == 0 ? 1 : 0];
    Spawn what = own_program("unetd-relay", "--relay", socket, signals);
    what.err = errors.get();
    set_variable(what.environment, "SSH_CONNECTION=" + connection_from(other));
    return what;
}

Spawn relay_elsewhere(const Tree &tree, const std::string &host, const Fd &socket, const Fd &errors,
                      const sigset_t &signals)
{
    Spawn what;
    what.file = find_remote_shell(tree.rsh.front());
    what.arguments = rsh_command(tree.rsh, host, tree.unetrun);
    what.environment = own_environment();
    what.in = what.out = socket.get();
    what.err = errors.get();
    what.signals = signals;
    what.session = true; // without a terminal it asks nobody for a password
    what.dies_with_parent = true;
    return what;
}

} // namespace

Spawn daemon_start(const Fd &socket, const sigset_t &signals)
{
    return own_program("unetd", "--daemon", socket, signals);
}

Spawn relay_start(const Tree &tree, std::uint32_t node, const Fd &socket, const Fd &errors,
                  const sigset_t &signals)
{
    return node == tree.here ? relay_here(tree, socket, errors, signals)
                             : relay_elsewhere(tree, tree.hosts[node], socket, errors, signals);
}

} // namespace unetrun
