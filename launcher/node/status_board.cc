// SPDX-License-Identifier: BSD-3-Clause

#include "node/status_board.h"

#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace unetrun {

namespace {

constexpr int read_attempts = 8;

int make_memory(std::size_t bytes)
{
    const int fd = memfd_create("unetrun-status", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && (ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
                    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

} // namespace

StatusBoard::StatusBoard(std::uint32_t ranks)
    : ranks_(ranks), fd_(make_memory(std::size_t{ranks} * SPLITC_STATUS_BYTES))
{
    if (!fd_)
        throw system_failure("memfd_create");
    void *at = mmap(nullptr, std::size_t{ranks} * SPLITC_STATUS_BYTES, PROT_READ, MAP_SHARED,
                    fd_.get(), 0);
    if (at == MAP_FAILED)
        throw system_failure("mmap");
    pages_ = static_cast<const char *>(at);
}

StatusBoard::~StatusBoard()
{
    munmap(const_cast<char *>(pages_), std::size_t{ranks_} * SPLITC_STATUS_BYTES);
}

std::string StatusBoard::place_of(std::uint32_t index) const
{
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_.get()) + ":" +
           std::to_string(std::size_t{index} * SPLITC_STATUS_BYTES);
}

// The rank may be writing at this moment, so the page is read until two copies are equal.  After
// some attempts the last one has to do.
splitc_status StatusBoard::read(std::uint32_t index) const
{
    const char *page = pages_ + std::size_t{index} * SPLITC_STATUS_BYTES;
    splitc_status first, second;
    int attempt = 0;
    do {
        std::memcpy(&first, page, sizeof first);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        std::memcpy(&second, page, sizeof second);
    } while (std::memcmp(&first, &second, sizeof first) != 0 && ++attempt < read_attempts);
    second.what[sizeof second.what - 1] = '\0';
    return second;
}

std::vector<splitc_status> StatusBoard::read_all() const
{
    std::vector<splitc_status> all;
    for (std::uint32_t i = 0; i < ranks_; i++)
        all.push_back(read(i));
    return all;
}

std::string object_name(const splitc_status &status, std::uint64_t index)
{
    if (index >= SPLITC_OBJECTS)
        return {};
    const char *name = status.object[index];
    return std::string(name, strnlen(name, SPLITC_OBJECT_NAME));
}

bool has_joined(const splitc_status &status)
{
    return status.magic == SPLITC_STATUS_MAGIC;
}

bool is_waiting(const splitc_status &status)
{
    return has_joined(status) && status.what[0] != '\0';
}

// ---- words --------------------------------------------------------------------------

namespace {

std::string state_text(char state)
{
    switch (state) {
    case 'R':
        return "running";
    case 'S':
        return "asleep";
    case 'D':
        return "in an uninterruptible system call";
    case 'T':
        return "stopped";
    case 't':
        return "stopped by a debugger";
    default:
        return "gone";
    }
}

} // namespace

std::string describe(const splitc_status &status, std::uint64_t now_ns, char state,
                     const std::string &place)
{
    const std::string process = "; the process is " + state_text(state);
    if (!has_joined(status))
        return "has not joined as a Split-C program" + process;
    if (!is_waiting(status))
        return "computes, or waits in something that is not Split-C's" + process;
    const double seconds =
        now_ns > status.began ? static_cast<double>(now_ns - status.began) * 1e-9 : 0;
    const std::string whom =
        status.whom == SPLITC_ANYBODY ? "" : " for rank " + std::to_string(status.whom);
    char since[64];
    std::snprintf(since, sizeof since, ", since %.1f s", seconds);
    return "waits in " + std::string(status.what) + whom + (place.empty() ? "" : " at " + place) +
           since + "; pending: " + std::to_string(status.gets) + " gets, " +
           std::to_string(status.puts) + " puts; stores: " + std::to_string(status.stored) +
           " bytes sent, " + std::to_string(status.landed) + " have come, of which " +
           std::to_string(status.taken) + " were waited for before" +
           (status.sending ? "; messages of it are under way" : "") + process;
}

} // namespace unetrun
