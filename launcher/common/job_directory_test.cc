// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <sys/stat.h>

#include "common/job_directory.h"
#include "common/test_scratch.h"

using namespace unetrun;
namespace fs = std::filesystem;
using Catch::Matchers::Contains;

TEST_CASE("a job's directory is private and goes with it")
{
    Scratch scratch;
    {
        const JobDirectory directory(make_job_id(getpid(), "aa"), 0);
        struct stat status;
        REQUIRE(stat(directory.path().c_str(), &status) == 0);
        CHECK((status.st_mode & 07777) == 0700);
        CHECK_THROWS_WITH(JobDirectory(make_job_id(getpid(), "aa"), 0), Contains("TMPDIR"));
        std::ofstream(directory.path() + "/file") << "x";
    }
    CHECK(scratch.entries() == 0);
}

TEST_CASE("directories of dead jobs are swept, those of the living are not")
{
    Scratch scratch;
    const JobDirectory living(make_job_id(getpid(), "living"), 0);
    const fs::path dead = scratch.path / (make_job_id(1, "dead") + ".0");
    fs::create_directories(dead / "deep");
    fs::create_directory(scratch.path / "unetrun-other");
    fs::create_directory_symlink("/", scratch.path / make_job_id(1, "link"));
    remove_stale_job_directories();
    CHECK(fs::exists(living.path()));
    CHECK_FALSE(fs::exists(dead));
    CHECK(fs::exists(scratch.path / "unetrun-other"));
    CHECK(fs::exists(scratch.path / make_job_id(1, "link")));
}
