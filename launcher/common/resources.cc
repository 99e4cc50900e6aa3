// SPDX-License-Identifier: BSD-3-Clause

#include "common/resources.h"

#include <mutex>
#include <netinet/in.h>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include "common/fd.h"

namespace unetrun {

namespace {

constexpr rlim_t stack_least = 512 << 10; // twice of what the PMIx server was measured to need

rlim_t soft_limit(__rlimit_resource_t resource)
{
    rlimit limit{};
    getrlimit(resource, &limit);
    return limit.rlim_cur;
}

std::string kibibytes(std::size_t bytes)
{
    return std::to_string((bytes + 1023) >> 10) + " KiB";
}

Failure too_many_open(std::size_t lacking, const std::string &purpose)
{
    if (errno != EMFILE)
        return system_failure("cannot open files for " + purpose);
    const rlim_t limit = soft_limit(RLIMIT_NOFILE);
    return Failure(exit_trouble, "the limit of open files (ulimit -n) is " + std::to_string(limit) +
                                     "; for " + purpose + " it has to be " +
                                     std::to_string(limit + lacking) + ": raise it");
}

void try_descriptors(std::size_t count, const std::string &purpose)
{
    std::vector<Fd> taken;
    while (taken.size() < count) {
        taken.emplace_back(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
        if (!taken.back())
            throw too_many_open(count - taken.size() + 1, purpose);
    }
}

// The limits that may be the reason why there is no memory.
std::string memory_limits()
{
    std::string text;
    for (const auto &[resource, name] :
         {std::pair(RLIMIT_DATA, "data (ulimit -d)"), std::pair(RLIMIT_AS, "memory (ulimit -v)")})
        if (const rlim_t limit = soft_limit(resource); limit != RLIM_INFINITY)
            text += (text.empty() ? "the limit of " : ", that of ") + std::string(name) + " is " +
                    kibibytes(limit);
    return text.empty() ? "the machine, or a sandbox, gives no more" : text + "; raise it";
}

void try_memory(std::size_t bytes, const std::string &purpose)
{
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        throw Failure(exit_trouble, "no memory for " + purpose + ", which takes " +
                                        kibibytes(bytes) + " more: " + memory_limits());
    munmap(at, bytes);
}

std::size_t thread_stack()
{
    pthread_attr_t attributes;
    std::size_t bytes = 0;
    if (pthread_getattr_default_np(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
    }
    return bytes;
}

// All threads live until the last one has been started.
void try_threads(unsigned count, const std::string &purpose)
{
    std::mutex gate;
    std::vector<std::thread> threads;
    int error = 0;
    {
        const std::lock_guard closed(gate);
        try {
            while (threads.size() < count)
                threads.emplace_back([&gate] { const std::lock_guard passing(gate); });
        } catch (const std::system_error &failure) {
            error = failure.code().value();
        }
    }
    for (std::thread &thread : threads)
        thread.join();
    if (error != 0)
        throw Failure(exit_trouble,
                      "cannot start threads for " + purpose + ": " + start_trouble(error));
}

} // namespace

void require(const Needs &needs, const std::string &purpose)
{
    try_descriptors(needs.descriptors, purpose);
    try_memory(needs.bytes + needs.threads * thread_stack(), purpose);
    try_threads(needs.threads, purpose);
}

void require_port(const std::string &purpose)
{
    const sockaddr_in any{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
    const Fd port(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (port && bind(port.get(), reinterpret_cast<const sockaddr *>(&any), sizeof any) == 0)
        return;
    if (errno != EADDRINUSE)
        throw system_failure("cannot have a TCP port of 127.0.0.1 for " + purpose);
    throw Failure(exit_trouble, "all TCP ports of 127.0.0.1 are in use; for " + purpose +
                                    " one has to be free: end what holds them (ss -tanp), or widen "
                                    "net.ipv4.ip_local_port_range (sysctl)");
}

void require_stack()
{
    const rlim_t limit = soft_limit(RLIMIT_STACK);
    if (limit < stack_least)
        throw Failure(exit_trouble, "the limit of the stack (ulimit -s) is " + kibibytes(limit) +
                                        ", and unetrun takes " + kibibytes(stack_least) +
                                        ": raise it");
}

std::string start_trouble(int error)
{
    const std::string text = std::strerror(error);
    if (error != EAGAIN)
        return text + "; start fewer ranks";
    const rlim_t limit = soft_limit(RLIMIT_NPROC);
    return text + "; the limit of processes (ulimit -u) is " +
           (limit == RLIM_INFINITY ? "unlimited, so another one (of the container, or "
                                     "kernel.pid_max) is reached"
                                   : std::to_string(limit)) +
           ": raise it or start fewer ranks";
}

namespace {

// The kernel says the same of a stack without memory as of too many threads.
std::string thread_trouble()
{
    const bool limited =
        soft_limit(RLIMIT_DATA) != RLIM_INFINITY || soft_limit(RLIMIT_AS) != RLIM_INFINITY;
    return limited ? "no memory for its stack, or too many processes: " + memory_limits()
                   : start_trouble(EAGAIN);
}

} // namespace

std::string words_of(const std::exception &error)
{
    if (dynamic_cast<const std::bad_alloc *>(&error))
        return "no memory: " + memory_limits();
    const auto *refused = dynamic_cast<const std::system_error *>(&error);
    if (refused && refused->code() == std::errc::resource_unavailable_try_again)
        return "cannot start a thread: " + thread_trouble();
    return error.what();
}

} // namespace unetrun
