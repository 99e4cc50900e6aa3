// SPDX-License-Identifier: BSD-3-Clause
//
// A job whose ranks have a host between them that forwards what they say as it likes.  As root
// only.
#include "liar.h"

#include <catch2/catch.hpp>
#include <cstdio>

using Catch::Matchers::Contains;

namespace {

Command job(const Hosts &hosts, const TemporaryFolder &folder, const std::string &backend,
            const std::string &seconds)
{
    return {{launcher(), "--hosts", hosts.all(), "--rsh", hosts.rsh(), "--backend", backend,
             "--ppn", "2", ROUNDS, "1", seconds, folder.path.string()}};
}

bool may_run()
{
    const std::string obstacle = Hosts::obstacle();

    if (!obstacle.empty())
        std::printf("\nnot run: %s\n", obstacle.c_str());
    return obstacle.empty();
}

std::string told(const Deeds &deeds)
{
    return "passed " + std::to_string(deeds.passed) + ", dropped " + std::to_string(deeds.dropped) +
           ", altered " + std::to_string(deeds.altered) + ", repeated " +
           std::to_string(deeds.repeated) + ", replayed " + std::to_string(deeds.replayed) +
           ", invented " + std::to_string(deeds.invented);
}

void check_lies(const std::string &backend, const std::string &seconds, unsigned seed)
{
    const Hosts hosts(2);
    const TemporaryFolder folder;
    const Lies lies = {.drop = 0.02, .alter = 0.02, .repeat = 0.02, .replay = 0.05, .invent = 0.02};
    const Liar liar(hosts, lies, seed);

    for (int jobs = 0; jobs < 2; jobs++) { // what the first says is said to the second
        const Outcome outcome = run(job(hosts, folder, backend, seconds));
        INFO(backend << ", seed " << seed << ", job " << jobs << ": " << told(liar.deeds()) << "\n"
                     << outcome.out << outcome.err);
        CHECK(outcome.code == 0);
        CHECK_THAT(outcome.out, Contains("wrong: 0 of ") && !Contains("phase: 0 0\n"));
        CHECK(liar.deeds().altered > 20);
        CHECK(liar.deeds().replayed > 50);
        CHECK(liar.deeds().invented > 20);
    }
}

} // namespace

TEST_CASE("a host in between that alters, replays and invents changes no result")
{
    const std::string backend = GENERATE(as<std::string>(), "shm,udp", "shm,eth");

    if (may_run())
        check_lies(backend, "2", 1);
}

TEST_CASE("a host in between changes no result for long", "[long]")
{
    if (!may_run())
        return;
    for (unsigned seed = 2; seed < 7; seed++)
        check_lies(seed % 2 ? "shm,eth" : "shm,udp", "15", seed);
}

TEST_CASE("a host in between that forges the end of a channel ends the job, with a word")
{
    if (!may_run())
        return;
    const Hosts hosts(2);
    const TemporaryFolder folder;
    const Liar liar(hosts, {.end_channels = true}, 1);
    const Outcome outcome = run(job(hosts, folder, "shm,udp", "20"));

    INFO(outcome.out << outcome.err);
    CHECK(liar.deeds().ended > 0);
    CHECK(outcome.code != 0);
    CHECK(outcome.code != -1); // not for having waited
    CHECK_THAT(outcome.err, Contains("rank"));
    CHECK_THAT(outcome.out, !Contains("wrong"));
}
