// SPDX-License-Identifier: BSD-3-Clause
//
// The sorts against std::sort, over ranks, variants, sizes and distributions.
#include "splitc_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace {

Keys random_keys(size_t n)
{
    std::mt19937 random(static_cast<unsigned>(n) + 1);
    Keys keys(n);

    std::generate(keys.begin(), keys.end(), random);
    return keys;
}

// Where the two differ first, or the length of both.
size_t first_difference(const Keys &a, const Keys &b)
{
    return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                               a.begin());
}

// `environment` is added to that of the launcher.
void require_sorts(const std::string &program, const std::string &variant, Keys keys,
                   const std::vector<int> &rank_counts,
                   const std::vector<std::string> &environment = {})
{
    TemporaryFolder folder;

    write_keys(folder / "input", keys);
    std::sort(keys.begin(), keys.end());
    for (int count : rank_counts) {
        Command command = ranks(count, benchmark(program),
                                {"--input", folder / "input", "--output", folder / "output",
                                 "--variant", variant, "--check"});
        command.environment = environment;
        const Outcome outcome = run(command);
        INFO(program << " " << variant << " on " << count << " ranks\n"
                     << outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const Keys sorted = read_keys(folder / "output");
        REQUIRE(sorted.size() == keys.size());
        REQUIRE(first_difference(sorted, keys) == keys.size());
        std::filesystem::remove(folder / "output");
    }
}

const std::vector<int> all_counts = {1, 2, 3, 4, 8};

void require_sorts_bytes(const std::string &program, const std::string &variant, size_t bytes)
{
    require_sorts(program, variant, random_keys(bytes / 4), all_counts);
}

// Distributions that make sorts go out of balance.
void require_sorts_skewed(const std::string &program, const std::string &variant)
{
    const size_t n = 100003;
    Keys keys = random_keys(n);

    require_sorts(program, variant, Keys(n, 7), {4});
    require_sorts(program, variant, Keys(n, 0xffffffff), {3});
    std::transform(keys.begin(), keys.end(), keys.begin(), [](auto k) { return k % 3; });
    require_sorts(program, variant, keys, {8});
    keys = random_keys(n);
    std::sort(keys.begin(), keys.end());
    require_sorts(program, variant, keys, {4});
    std::reverse(keys.begin(), keys.end());
    require_sorts(program, variant, keys, {4});
    std::fill(keys.begin() + 1, keys.end(), 5);
    require_sorts(program, variant, keys, {4});
}

void require_sorts_over_network(const std::string &program, const std::string &variant)
{
    const Keys keys = random_keys(100003);

    require_sorts(program, variant, keys, {2, 4}, {"SPLITC_BACKEND=udp"});
    require_sorts(
        program, variant, keys, {4},
        {"SPLITC_BACKEND=udp", "SPLITC_CHAOS=loss=0.05,dup=0.02,reorder=0.1,flip=0.001,seed=7"});
}

// Around the numbers of ranks, where blocks are short or empty.
void require_sorts_few(const std::string &program, const std::string &variant)
{
    for (size_t n : {2, 3, 7, 8, 9, 17, 63})
        require_sorts(program, variant, random_keys(n), {3, 8});
}

} // namespace

TEST_CASE("ssort small sorts an empty file")
{
    require_sorts_bytes("ssort", "small", 0);
}
TEST_CASE("ssort bulk sorts an empty file")
{
    require_sorts_bytes("ssort", "bulk", 0);
}
TEST_CASE("rsort small sorts an empty file")
{
    require_sorts_bytes("rsort", "small", 0);
}
TEST_CASE("rsort bulk sorts an empty file")
{
    require_sorts_bytes("rsort", "bulk", 0);
}

TEST_CASE("ssort small sorts one key")
{
    require_sorts_bytes("ssort", "small", 4);
}
TEST_CASE("ssort bulk sorts one key")
{
    require_sorts_bytes("ssort", "bulk", 4);
}
TEST_CASE("rsort small sorts one key")
{
    require_sorts_bytes("rsort", "small", 4);
}
TEST_CASE("rsort bulk sorts one key")
{
    require_sorts_bytes("rsort", "bulk", 4);
}

TEST_CASE("ssort small sorts a few keys")
{
    require_sorts_few("ssort", "small");
}
TEST_CASE("ssort bulk sorts a few keys")
{
    require_sorts_few("ssort", "bulk");
}
TEST_CASE("rsort small sorts a few keys")
{
    require_sorts_few("rsort", "small");
}
TEST_CASE("rsort bulk sorts a few keys")
{
    require_sorts_few("rsort", "bulk");
}

TEST_CASE("ssort small sorts a million keys")
{
    require_sorts_bytes("ssort", "small", 4000000);
}
TEST_CASE("ssort bulk sorts a million keys")
{
    require_sorts_bytes("ssort", "bulk", 4000000);
}
TEST_CASE("rsort small sorts a million keys")
{
    require_sorts_bytes("rsort", "small", 4000000);
}
TEST_CASE("rsort bulk sorts a million keys")
{
    require_sorts_bytes("rsort", "bulk", 4000000);
}

TEST_CASE("ssort small sorts ten million keys", "[long]")
{
    require_sorts_bytes("ssort", "small", 40000004);
}
TEST_CASE("ssort bulk sorts ten million keys", "[long]")
{
    require_sorts_bytes("ssort", "bulk", 40000004);
}
TEST_CASE("rsort small sorts ten million keys", "[long]")
{
    require_sorts_bytes("rsort", "small", 40000004);
}
TEST_CASE("rsort bulk sorts ten million keys", "[long]")
{
    require_sorts_bytes("rsort", "bulk", 40000004);
}

TEST_CASE("ssort small sorts skewed keys")
{
    require_sorts_skewed("ssort", "small");
}
TEST_CASE("ssort bulk sorts skewed keys")
{
    require_sorts_skewed("ssort", "bulk");
}
TEST_CASE("rsort small sorts skewed keys")
{
    require_sorts_skewed("rsort", "small");
}
TEST_CASE("rsort bulk sorts skewed keys")
{
    require_sorts_skewed("rsort", "bulk");
}

TEST_CASE("ssort small sorts over a network, a bad one too")
{
    require_sorts_over_network("ssort", "small");
}
TEST_CASE("ssort bulk sorts over a network, a bad one too")
{
    require_sorts_over_network("ssort", "bulk");
}
TEST_CASE("rsort small sorts over a network, a bad one too")
{
    require_sorts_over_network("rsort", "small");
}
TEST_CASE("rsort bulk sorts over a network, a bad one too")
{
    require_sorts_over_network("rsort", "bulk");
}

TEST_CASE("A sort may write over its input")
{
    TemporaryFolder folder;
    Keys keys = random_keys(5000);

    write_keys(folder / "file", keys);
    std::sort(keys.begin(), keys.end());
    const Outcome outcome = run(
        ranks(3, benchmark("ssort"), {"--input", folder / "file", "--output", folder / "file"}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    REQUIRE(read_keys(folder / "file") == keys);
}

TEST_CASE("An output that was longer is cut")
{
    TemporaryFolder folder;

    write_keys(folder / "input", {3, 1, 2});
    write_keys(folder / "output", Keys(1000, 9));
    const Outcome outcome = run(ranks(
        2, benchmark("rsort"), {"--input=" + folder / "input", "--output=" + folder / "output"}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    REQUIRE(read_keys(folder / "output") == Keys{1, 2, 3});
}

TEST_CASE("The random keys do not depend on the number of ranks")
{
    TemporaryFolder folder;
    std::vector<std::string> written;

    for (int count : {1, 5}) {
        const Outcome outcome =
            run(ranks(count, benchmark("ssort"),
                      {"--keys", "10001", "--seed", "42", "--output", folder / "output"}));
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        written.push_back(read_file(folder / "output"));
    }
    REQUIRE(written[0].size() == 40004);
    REQUIRE(written[0] == written[1]);
}

TEST_CASE("A sort reports its time, its rate and where the time went")
{
    const Outcome outcome = run(ranks(2, benchmark("rsort"), {"--keys", "100000"}));

    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    for (const char *label : {"100000 keys, variant bulk, 2 processors", "time", "M keys/s",
                              "computation", "communication"})
        CHECK_THAT(outcome.out, Catch::Contains(label));
}

TEST_CASE("A sort runs as one rank without a launcher")
{
    const Outcome outcome = run({{benchmark("ssort"), "--keys", "1000", "--check"}});

    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK_THAT(outcome.out, Catch::Contains("1 processors") && Catch::Contains("verified"));
}
