// SPDX-License-Identifier: BSD-3-Clause

#include "front/output_files.h"

#include <fcntl.h>
#include <set>

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

void create_output_files(const std::vector<std::string> &files)
{
    for (const std::string &file : std::set<std::string>(files.begin(), files.end()))
        if (!Fd(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)))
            throw Failure(exit_trouble, "cannot write " + file + ": " + std::strerror(errno) +
                                            "; name a file in a directory that is there, and that "
                                            "you may write to (--output)");
}

} // namespace unetrun
