// SPDX-License-Identifier: BSD-3-Clause

#include "front/output_files.h"

#include <fcntl.h>
#include <set>
#include <sys/stat.h>

#include "common/failure.h"
#include "common/fd.h"

namespace unetrun {

void check_output_pattern(const std::string &pattern)
{
    if (pattern.empty())
        throw Failure(exit_usage, "--output wants the name of a file, as in out.%r");
    for (std::size_t at = 0; (at = pattern.find('%', at)) != std::string::npos; at += 2)
        if (at + 1 == pattern.size() ||
            std::string("rh%").find(pattern[at + 1]) == std::string::npos)
            throw Failure(exit_usage, "--output " + pattern + ": '" + pattern.substr(at, 2) +
                                          "' stands for nothing; %r is the rank, %h its host, and "
                                          "%% a percent sign");
}

namespace {

std::string output_file(const std::string &pattern, std::uint32_t rank, const std::string &host)
{
    std::string file;
    for (std::size_t i = 0; i < pattern.size(); i++) {
        if (pattern[i] != '%')
            file += pattern[i];
        else if (pattern[++i] == 'r')
            file += std::to_string(rank);
        else if (pattern[i] == 'h')
            file += host;
        else
            file += '%';
    }
    return file;
}

} // namespace

std::vector<std::string> output_files(const std::string &pattern, const Job &job)
{
    std::vector<std::string> files;
    for (std::uint32_t rank = 0; rank < job.ranks(); rank++)
        files.push_back(output_file(pattern, rank, job.hosts[job.node_of[rank]]));
    return files;
}

namespace {

bool is_fifo(const std::string &file)
{
    struct stat status;
    return stat(file.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

Failure cannot_write(const std::string &file, int error)
{
    const std::string what = "cannot write " + file + ": ";
    if (error == EPIPE)
        return Failure(exit_trouble, what + "nobody reads this FIFO; start its reader before "
                                            "unetrun, or name a file (--output)");
    if (!remedy(error).empty())
        return Failure(exit_trouble, what + std::strerror(error) + remedy(error));
    return Failure(exit_trouble, what + std::strerror(error) +
                                     "; name a file in a directory that is there, and that you may "
                                     "write to (--output)");
}

// A FIFO without a reader would keep us waiting for one.
int open_to_write(const std::string &file, int flag, Fd &opened)
{
    constexpr int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    opened = Fd(open(file.c_str(), flags | flag, 0666));
    if (opened)
        return 0;
    const int error = errno;
    return error == ENXIO && is_fifo(file) ? EPIPE : error;
}

} // namespace

std::vector<Fd> create_output_files(const std::vector<std::string> &files)
{
    std::vector<Fd> fifos;
    for (const std::string &file : std::set<std::string>(files.begin(), files.end())) {
        Fd opened;
        if (const int error = open_to_write(file, O_TRUNC, opened))
            throw cannot_write(file, error);
        if (is_fifo(file))
            fifos.push_back(std::move(opened));
    }
    return fifos;
}

int open_output_file(const std::string &file, Fd &opened)
{
    return open_to_write(file, O_APPEND, opened);
}

} // namespace unetrun
