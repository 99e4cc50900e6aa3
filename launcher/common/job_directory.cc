// SPDX-License-Identifier: BSD-3-Clause

#include "common/job_directory.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>

namespace unetrun {

namespace fs = std::filesystem;

namespace {

constexpr char before_secret = '~';

std::string parent_directory()
{
    const char *tmpdir = std::getenv("TMPDIR");
    return tmpdir && *tmpdir ? tmpdir : "/tmp";
}

std::string prefix()
{
    return "unetrun-" + std::to_string(geteuid()) + "-";
}

std::string path_of(const std::string &job_id, std::uint32_t node)
{
    return parent_directory() + "/" + job_id.substr(0, job_id.find(before_secret)) + "." +
           std::to_string(node);
}

void remove_tree(const fs::path &path)
{
    std::error_code ignored; // the next job tries again to remove what is left
    fs::remove_all(path, ignored);
}

// Opens a directory.  The result is empty if it is none, or another user's.
Fd open_directory(const fs::path &path)
{
    Fd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (!directory || fstat(directory.get(), &status) != 0 || status.st_uid != geteuid())
        return Fd();
    return directory;
}

// Whether the path still leads to the open directory.
bool leads_to(const fs::path &path, const Fd &directory)
{
    struct stat by_path, by_fd;
    return lstat(path.c_str(), &by_path) == 0 && fstat(directory.get(), &by_fd) == 0 &&
           by_path.st_dev == by_fd.st_dev && by_path.st_ino == by_fd.st_ino;
}

} // namespace

void fix_parent_directory()
{
    const char *tmpdir = std::getenv("TMPDIR");
    std::error_code ignored; // if the working directory is gone, /tmp is used
    if (tmpdir && *tmpdir)
        setenv("TMPDIR", fs::absolute(tmpdir, ignored).c_str(), true);
}

std::string make_job_id(pid_t pid, const std::string &random, const std::string &secret)
{
    const std::string name = prefix() + std::to_string(pid) + "-" + random;
    return secret.empty() ? name : name + before_secret + secret;
}

JobDirectory::JobDirectory(const std::string &job_id, std::uint32_t node)
    : path_(path_of(job_id, node))
{
    // A second round is needed only if another job that starts at this moment took the directory
    // for that of a dead job before it was locked, and removed it.
    while (!lock_ || !leads_to(path_, lock_)) {
        if (mkdir(path_.c_str(), 0700) != 0)
            throw Failure(exit_trouble, "cannot make the directory " + path_ + ": " +
                                            std::strerror(errno) +
                                            "; set TMPDIR to a directory that can be written");
        lock_ = open_directory(path_);
        if (lock_ && flock(lock_.get(), LOCK_EX) != 0)
            throw system_failure("cannot lock the directory " + path_);
    }
}

std::string JobDirectory::put(const std::string &name, const std::string &bytes) const
{
    const std::string path = path_ + "/" + name;
    std::ofstream file(path, std::ios::binary);
    if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush() ||
        chmod(path.c_str(), 0700) != 0)
        throw Failure(exit_trouble, "cannot write " + path + ": " + std::strerror(errno) +
                                        "; set TMPDIR to a directory with room");
    return path;
}

JobDirectory::~JobDirectory()
{
    remove_tree(path_);
}

void remove_job_directory(const std::string &job_id, std::uint32_t node)
{
    remove_tree(path_of(job_id, node));
}

void remove_stale_job_directories()
{
    std::error_code error;
    fs::directory_iterator entry(parent_directory(), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        if (entry->path().filename().string().rfind(prefix(), 0) != 0)
            continue;
        const Fd directory = open_directory(entry->path());
        if (directory && flock(directory.get(), LOCK_EX | LOCK_NB) == 0)
            remove_tree(entry->path());
    }
}

} // namespace unetrun
