// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <fstream>
#include <sys/stat.h>

#include "common/failure.h"
#include "common/test_scratch.h"
#include "front/output_files.h"

using namespace unetrun;
using Catch::Matchers::Contains;
using Strings = std::vector<std::string>;

TEST_CASE("output files: named by rank and host")
{
    Job job;
    job.hosts = {"a", "b"};
    job.node_of = {0, 1, 1};
    CHECK(output_files("out.%r", job) == Strings{"out.0", "out.1", "out.2"});
    CHECK(output_files("%h/%r%%", job) == Strings{"a/0%", "b/1%", "b/2%"});
    CHECK(output_files("all", job) == Strings{"all", "all", "all"});
}

TEST_CASE("output files: a pattern that means nothing is refused")
{
    const std::string pattern = GENERATE("", "%", "out.%", "out.%d", "%%%");
    INFO(pattern);
    CHECK_THROWS_AS(check_output_pattern(pattern), Failure);
    CHECK_NOTHROW(check_output_pattern("a%r%h%%"));
}

TEST_CASE("output files: a FIFO is kept open while it is read, and refused otherwise")
{
    const Scratch scratch;
    const std::string fifo = scratch.path / "fifo";
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(create_output_files({fifo}),
                      Contains(fifo + ": nobody reads this FIFO; start its reader"));
    Fd none;
    CHECK(open_output_file(fifo, none) == EPIPE);

    const Fd reader(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    std::vector<Fd> kept = create_output_files({fifo, fifo});
    CHECK(kept.size() == 1);
    char byte;
    CHECK(read(reader.get(), &byte, 1) == -1); // not at its end
    CHECK(errno == EAGAIN);
    kept.clear();
    CHECK(read(reader.get(), &byte, 1) == 0);
}

TEST_CASE("output files: begin empty, and a file that cannot be is named")
{
    const Scratch scratch;
    const std::string file = scratch.path / "out", nowhere = scratch.path / "none" / "out";

    std::ofstream(file) << "of an earlier job";
    create_output_files({file, file});
    CHECK(std::filesystem::file_size(file) == 0);
    try {
        create_output_files({nowhere});
        FAIL("not refused");
    } catch (const Failure &failure) {
        CHECK_THAT(failure.what(),
                   Contains(nowhere) && Contains("No such file") && Contains("--output"));
    }
}
