// SPDX-License-Identifier: BSD-3-Clause
//
// The examples, and what the programs say to bad input.
#include "splitc_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>

namespace {

std::string example(const std::string &name)
{
    return BUILD_FOLDER "/examples/" + name;
}

std::vector<std::string> sorted_lines(const std::string &text)
{
    std::istringstream stream(text);
    std::vector<std::string> lines;

    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
}

// Lines of the message that the program itself wrote.
long lines_from(const std::string &program, const std::string &text)
{
    const auto lines = sorted_lines(text);

    return std::count_if(lines.begin(), lines.end(), [&](const std::string &line) {
        return line.rfind(program + ": ", 0) == 0;
    });
}

void require_refuses(const std::string &program, const std::vector<std::string> &arguments,
                     int code, const std::string &message)
{
    const Outcome outcome = run(ranks(3, benchmark(program), arguments));

    INFO(program << " " << (arguments.empty() ? "" : arguments[0]) << "\n"
                 << outcome.out << outcome.err);
    CHECK(outcome.code == code);
    CHECK(lines_from(program, outcome.err) == 1);
    CHECK_THAT(outcome.err, Catch::Contains(message));
}

} // namespace

TEST_CASE("hello prints one whole line from every rank")
{
    for (int count : {1, 2, 4, 8}) {
        const Outcome outcome = run(ranks(count, example("hello"), {}));
        std::vector<std::string> expected;

        for (int rank = 0; rank < count; rank++)
            expected.push_back("hello from processor " + std::to_string(rank) + " of " +
                               std::to_string(count));
        INFO(outcome.err);
        CHECK(outcome.code == 0);
        CHECK(sorted_lines(outcome.out) == expected);
    }
}

TEST_CASE("The examples over imported buffers run on one node, two, and a bad network")
{
    const std::vector<std::vector<std::string>> ways = {
        {}, {"--backend", "udp"}, {"--nodes", "2", "--chaos", "loss=0.03,reorder=0.1"}};

    for (const auto &way : ways) {
        Command ring{{launcher(), "-n", "4"}}, ttcp{{launcher(), "-n", "2"}};

        for (Command *command : {&ring, &ttcp})
            command->arguments.insert(command->arguments.end(), way.begin(), way.end());
        ring.arguments.push_back(example("vmmc_ring"));
        for (const std::string &word :
             {example("vmmc_ttcp"), std::string("50001"), std::string("8")})
            ttcp.arguments.push_back(word);
        const Outcome passed = run(ring), sent = run(ttcp);
        INFO((way.empty() ? "one node" : way.back()) << "\n" << passed.err << sent.err);
        CHECK(passed.code == 0);
        CHECK(passed.out == "the token was passed on 12 times\n");
        CHECK(sent.code == 0);
        CHECK(sent.out == "8 messages of 50001 bytes, all right, 100 % redirected\n");
    }
}

TEST_CASE("A striped file is read from several ranks, byte for byte")
{
    const TemporaryFolder folder;
    const std::string file = folder / "file", copy = folder / "copy";
    const std::vector<std::vector<std::string>> ways = {
        {}, {"--backend", "udp"}, {"--nodes", "2", "--chaos", "loss=0.03,reorder=0.1"}};

    for (const size_t size : {size_t{300007}, size_t{0}, size_t{1500}}) {
        std::string bytes(size, '\0');
        for (size_t i = 0; i < size; i++)
            bytes[i] = static_cast<char>(i * 7 + (i >> 10));
        write_file(file, bytes);
        for (const auto &way : ways) {
            Command command{{launcher(), "-n", "4"}};

            command.arguments.insert(command.arguments.end(), way.begin(), way.end());
            for (const std::string &word :
                 {example("vmmc_striped"), file, copy, std::string("1000")})
                command.arguments.push_back(word);
            const Outcome outcome = run(command);
            INFO(size << " bytes, " << (way.empty() ? "one node" : way.back()) << "\n"
                      << outcome.err);
            CHECK(outcome.code == 0);
            CHECK(outcome.out ==
                  std::to_string(size) + " bytes from 3 servers, 100 % redirected\n");
            CHECK(read_file(copy) == bytes);
        }
    }
    const Outcome none = run({{launcher(), "-n", "2", example("vmmc_striped"), file + "x", copy}});
    CHECK(none.code == 1);
    CHECK_THAT(none.err, Catch::Contains(file + "x: No such file or directory"));
}

TEST_CASE("Files are read and written in acknowledged blocks, and only in the folder")
{
    const TemporaryFolder folder, other;
    const std::string here = folder / "here", mine = other / "mine", again = other / "again";
    const auto tftp = [&](const std::vector<std::string> &way, const std::string &verb,
                          const std::string &from, const std::string &to) {
        Command command{{launcher(), "-n", "2"}};

        command.arguments.insert(command.arguments.end(), way.begin(), way.end());
        for (const std::string &word : {example("vmmc_tftp"), folder.path.string(), verb, from, to})
            command.arguments.push_back(word);
        return run(command);
    };
    std::string bytes(8192 * 3, 'x');

    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = static_cast<char>(i * 3 + (i >> 9));
    write_file(mine, bytes);
    for (const std::vector<std::string> &way :
         {std::vector<std::string>{}, {"--nodes", "2", "--chaos", "loss=0.03,reorder=0.1"}}) {
        const Outcome put = tftp(way, "put", mine, "here"), get = tftp(way, "get", "here", again);

        INFO(put.err << get.err);
        CHECK(put.out == "24576 bytes in 4 blocks\n");
        CHECK(get.out == "24576 bytes in 4 blocks\n");
        CHECK(read_file(here) == bytes);
        CHECK(read_file(again) == bytes);
        std::filesystem::remove(here);
        std::filesystem::remove(again);
    }
    const Outcome none = tftp({}, "get", "nothing", again), out = tftp({}, "put", mine, "../out");
    CHECK(none.code == 1);
    CHECK_THAT(none.err, Catch::Contains("rank 0 refuses: No such file or directory"));
    CHECK(out.code == 1);
    CHECK_THAT(out.err, Catch::Contains("no name of a file in the folder"));
    CHECK_FALSE(std::filesystem::exists(again));
    CHECK_FALSE(std::filesystem::exists(folder.path.parent_path() / "out"));
}

TEST_CASE("A volume is rendered alike by any number of workers, and any size of tasks")
{
    const TemporaryFolder folder;
    const std::string one = folder / "one.pgm", image = folder / "image.pgm";
    const auto render = [&](std::vector<std::string> words, const std::string &to,
                            const std::string &task) {
        Command command{{launcher()}};

        command.arguments.insert(command.arguments.end(), words.begin(), words.end());
        for (const std::string &word : {example("vmmc_parfum"), to, std::string("50"), task})
            command.arguments.push_back(word);
        return run(command);
    };
    const Outcome first = render({"-n", "2"}, one, "2500");

    CHECK(first.out == "50 x 50 pixels by 1 workers\n");
    const std::string expected = read_file(one);
    REQUIRE(expected.size() == std::string("P5\n50 50\n255\n").size() + 2500);
    CHECK(std::set<char>(expected.begin(), expected.end()).size() > 20); // it shows something
    for (const auto &way : std::vector<std::vector<std::string>>{
             {"-n", "4"},
             {"-n", "3", "--backend", "udp"},
             {"-n", "4", "--nodes", "2", "--chaos", "loss=0.03,reorder=0.1"}}) {
        const Outcome outcome = render(way, image, "7");
        INFO(way.back() << "\n" << outcome.err);
        CHECK(outcome.code == 0);
        CHECK(read_file(image) == expected);
    }
    const Outcome nowhere = render({"-n", "2"}, folder / "no/image.pgm", "7");
    CHECK(nowhere.code == 1);
    CHECK_THAT(nowhere.err, Catch::Contains("no/image.pgm: No such file or directory"));
    const Outcome none = render({"-n", "2"}, image, "0");
    CHECK(none.code == 2);
    CHECK_THAT(none.err, Catch::Contains("TASK 1 to"));
}

// The program compares each byte with what was sent.
TEST_CASE("100 MB by vmmc over a network that loses 1 or 5 % arrive byte for byte", "[long]")
{
    for (const char *loss : {"loss=0.01", "loss=0.05"}) {
        const Outcome sent = run({{launcher(), "-n", "2", "--backend", "udp", "--chaos", loss,
                                   example("vmmc_ttcp"), "1048576", "100"}});
        INFO(loss << "\n" << sent.err);
        CHECK(sent.code == 0);
        CHECK(sent.out == "100 messages of 1048576 bytes, all right, 100 % redirected\n");
    }
}

TEST_CASE("A library gets no messages of a program whose other threads handle them")
{
    Command ring{{launcher(), "-n", "2", example("vmmc_ring")}};
    ring.environment.push_back("SPLITC_PROGRESS=thread");
    const Outcome outcome = run(ring);

    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err,
               Catch::Contains("SPLITC_PROGRESS=thread") && Catch::Contains("unset it"));
}

TEST_CASE("The compiler and the launcher work by hand from the build folder")
{
    TemporaryFolder folder;
    const std::string program = folder / "hello";

    const Outcome compiled =
        run({{compiler(), "-O2", PROJECT_SOURCE "/examples/hello.sc", "-o", program}});
    INFO(compiled.out << compiled.err);
    REQUIRE(compiled.code == 0);
    CHECK(compiled.err == "");
    const Outcome outcome = run(ranks(4, program, {}));
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK(sorted_lines(outcome.out).size() == 4);
}

TEST_CASE("The program in the README compiles and runs")
{
    TemporaryFolder folder;
    const std::string readme = read_file(PROJECT_SOURCE "/README.md");
    const size_t begin = readme.find("```c\n") + 5, end = readme.find("```\n", begin);

    REQUIRE(end != std::string::npos);
    write_file(folder / "pi.sc", readme.substr(begin, end - begin));
    const Outcome compiled = run({{compiler(), "-O2", folder / "pi.sc", "-o", folder / "pi"}});
    INFO(compiled.err);
    REQUIRE(compiled.code == 0);
    const Outcome outcome = run(ranks(4, folder / "pi", {}));
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, Catch::StartsWith("pi is 3.141592653590, of which"));
}

TEST_CASE("ring counts the processors in every round")
{
    for (int count : {1, 2, 5}) {
        const Outcome outcome = run(ranks(count, example("ring"), {"50"}));
        INFO(outcome.err);
        CHECK(outcome.code == 0);
        CHECK_THAT(outcome.out, Catch::Contains("counted " + std::to_string(count) +
                                                " processors in each of 50 rounds"));
    }
}

TEST_CASE("histogram counts every throw")
{
    const Outcome outcome = run(ranks(3, example("histogram"), {"60000"}));
    const auto lines = sorted_lines(outcome.out);
    double percent = 0;

    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    REQUIRE(lines.size() == 11);
    for (const std::string &line : lines)
        percent += std::stod(line.substr(3));
    CHECK(percent == Approx(100).margin(0.06));
    CHECK_THAT(lines[5], Catch::StartsWith(" 7  16."));
}

TEST_CASE("The benchmarks explain themselves")
{
    for (const char *program : {"ssort", "rsort", "mm"}) {
        const Outcome outcome = run(ranks(2, benchmark(program), {"--help"}));
        INFO(program << outcome.err);
        CHECK(outcome.code == 0);
        CHECK_THAT(outcome.out, Catch::StartsWith(std::string("usage: ") + program));
        CHECK_THAT(outcome.out, Catch::Contains("--check") && Catch::Contains("--seed"));
    }
}

TEST_CASE("The benchmarks refuse options they do not know")
{
    require_refuses("ssort", {"--frobnicate"}, 2, "unknown option '--frobnicate'");
    require_refuses("rsort", {"file"}, 2, "unexpected argument 'file'");
    require_refuses("ssort", {"--check=yes"}, 2, "--check takes no value");
    require_refuses("ssort", {"--keys"}, 2, "--keys needs a value");
    require_refuses("ssort", {"--variant", "large"}, 2, "small or bulk, not 'large'");
    require_refuses("ssort", {"--keys", "1", "--input", "x"}, 2, "exclude each other");
    require_refuses("mm", {"--a", "x.npy"}, 2, "--a and --b belong together");
}

TEST_CASE("The benchmarks refuse numbers that are none")
{
    require_refuses("ssort", {"--keys", "-1"}, 2, "not '-1'");
    require_refuses("ssort", {"--keys", "12x"}, 2, "not '12x'");
    require_refuses("rsort", {"--keys="}, 2, "not ''");
    require_refuses("rsort", {"--keys", "99999999999999999999"}, 2, "99999999999999999999");
    require_refuses("mm", {"--blocks", "0"}, 2, "--blocks is from 1");
    require_refuses("mm", {"--block-size", "0"}, 2, "--block-size is from 1");
}

TEST_CASE("The sorts refuse inputs they cannot read")
{
    TemporaryFolder folder;

    write_file(folder / "odd", "12345");
    require_refuses("ssort", {"--input", folder / "missing"}, 1, "No such file");
    require_refuses("rsort", {"--input", folder.path.string()}, 1, "not a regular file");
    require_refuses("ssort", {"--input", "/dev/null"}, 1, "not a regular file");
    require_refuses("rsort", {"--input", folder / "odd"}, 1, "5 bytes, is no multiple of 4");
}

TEST_CASE("The sorts refuse outputs they cannot write")
{
    TemporaryFolder folder;

    require_refuses("ssort", {"--keys", "10", "--output", folder / "no/where"}, 1, "No such file");
    require_refuses("rsort", {"--keys", "10", "--output", folder.path.string()}, 1,
                    "Is a directory");
    require_refuses("ssort", {"--keys", "10", "--output", "/dev/full"}, 1, "No space left");
}

TEST_CASE("The launcher refuses what it cannot start")
{
    TemporaryFolder folder;
    const auto refuses = [](const std::vector<std::string> &arguments, int code,
                            const std::string &message) {
        Command command{{launcher()}};
        command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
        const Outcome outcome = run(command);
        INFO(outcome.out << outcome.err);
        CHECK(outcome.code == code);
        CHECK_THAT(outcome.err, Catch::StartsWith("unetrun: ") && Catch::Contains(message));
        CHECK(sorted_lines(outcome.err).size() == 1);
    };

    write_file(folder / "text", "not a program");
    refuses({"-n", "2", folder / "missing"}, 127, "missing");
    refuses({"-n", "2", folder / "text"}, 126, "text");
    refuses({"-n", "2", folder.path.string()}, 126, folder.path.string());
}

TEST_CASE("A heap that does not fit is one clear line")
{
    Command command = ranks(2, benchmark("rsort"), {"--keys", "40000000", "--variant", "small"});

    command.environment = {"SPLITC_HEAP=16M"};
    const Outcome outcome = run(command);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code != 0);
    CHECK(outcome.code != -1);
    CHECK_THAT(outcome.err, Catch::Contains("SPLITC_HEAP"));
}
