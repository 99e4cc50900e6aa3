// SPDX-License-Identifier: BSD-3-Clause

#include <catch2/catch.hpp>

#include <random>

#include "common/failure.h"
#include "common/protocol.h"

using namespace unetrun;

namespace {

Job some_job()
{
    Job job;
    job.id = "unetrun-1-2-3";
    job.key = std::string(32, 'f');
    job.hosts = {"a", "b"};
    job.node_of = {0, 0, 1, 0, 1};
    job.directory = "/tmp";
    job.arguments = {"prog", "", std::string("nul\0inside", 10)};
    job.environment = {"A=1"};
    job.bind_to = BindTo::core;
    job.cores_per_rank = 3;
    job.report_bindings = true;
    job.backtrace = true;
    job.verbose = true;
    return job;
}

// The only frame in `bytes`.
Frame frame_of(const std::string &bytes)
{
    FrameReader reader;
    reader.feed(bytes);
    const std::optional<Frame> frame = reader.next();
    REQUIRE(frame);
    REQUIRE_FALSE(reader.next());
    return *frame;
}

std::string header(std::uint32_t type, std::uint32_t length)
{
    Encoder encoder;
    encoder(type, length, std::uint32_t{0});
    return encoder.take();
}

} // namespace

TEST_CASE("integers travel in little-endian order whatever the machine")
{
    Encoder encoder;
    encoder(std::uint32_t{0x01020304}, std::int32_t{-2}, true);
    CHECK(encoder.take() == std::string("\x04\x03\x02\x01\xfe\xff\xff\xff\x01", 9));
}

TEST_CASE("a job survives the journey")
{
    const Job sent = some_job();
    const std::optional<Job> job = decode<Job>(frame_of(encode(sent)));
    REQUIRE(job);
    CHECK(job->valid());
    CHECK(job->id == sent.id);
    CHECK(job->hosts == sent.hosts);
    CHECK(job->node_of == sent.node_of);
    CHECK(job->arguments == sent.arguments);
    CHECK(job->environment == sent.environment);
    CHECK(job->bind_to == BindTo::core);
    CHECK(job->cores_per_rank == 3);
    CHECK(job->report_bindings);
    CHECK(job->backtrace);
    CHECK(job->verbose);
    CHECK(job->ranks() == 5);
    CHECK(job->ranks_of(1) == std::vector<std::uint32_t>{2, 4});
}

TEST_CASE("messages keep their values, the extreme ones too")
{
    const auto exited = decode<Exited>(
        frame_of(encode(Exited{65535, 0x7fffffff, true, false, "no memory", "a.sc:1"})));
    REQUIRE(exited);
    CHECK(exited->rank == 65535);
    CHECK(exited->status == 0x7fffffff);
    CHECK(exited->starved == "no memory");
    CHECK(exited->place == "a.sc:1");
    CHECK(exited->joined);
    CHECK_FALSE(exited->left);
    const auto started = decode<Started>(frame_of(encode(Started{65535, -1})));
    REQUIRE(started);
    CHECK(started->pid == -1);
    const std::string binary("\0\n\xff", 3);
    const auto output = decode<Output>(frame_of(encode(Output{7, Stream::err, binary})));
    REQUIRE(output);
    CHECK(output->bytes == binary);
    CHECK(output->stream == Stream::err);
    const auto end = decode<End>(frame_of(encode(End{15, 500, true})));
    REQUIRE(end);
    CHECK(end->slow);
    CHECK(decode<Done>(frame_of(encode(Done{}))));
}

TEST_CASE("a stream is cut into frames wherever it is torn")
{
    const std::string bytes = encode(Started{1, 2}) + encode(Done{}) + encode(Note{"text"});
    for (std::size_t cut = 0; cut <= bytes.size(); cut++) {
        FrameReader reader;
        std::vector<FrameType> types;
        for (const auto &part : {bytes.substr(0, cut), bytes.substr(cut)}) {
            reader.feed(part);
            while (const auto frame = reader.next())
                types.push_back(frame->type);
        }
        REQUIRE(types == std::vector{FrameType::started, FrameType::done, FrameType::note});
    }
}

TEST_CASE("a stream of something else is refused")
{
    FrameReader reader;
    const std::string bytes =
        GENERATE(header(0, 0), header(static_cast<std::uint32_t>(FrameType::last) + 1, 0),
                 header(1, 0xffffffff), header(1, frame_body_max + 1), "Last login: today\n");
    reader.feed(bytes);
    CHECK_THROWS_AS(reader.next(), Failure);
}

TEST_CASE("a longest body is waited for, not refused")
{
    FrameReader reader;
    reader.feed(header(1, frame_body_max));
    CHECK_FALSE(reader.next());
}

TEST_CASE("lists of records survive the way")
{
    const Networks sent{{{"fe", "10.0.0.0/24", ""}, {"eth", "", "Operation not permitted"}}};
    const std::optional<Networks> got = decode<Networks>(frame_of(encode(sent)));
    REQUIRE(got);
    REQUIRE(got->found.size() == 2);
    CHECK(got->found[0].name == "10.0.0.0/24");
    CHECK(got->found[1].backend == "eth");
    CHECK(got->found[1].obstacle == "Operation not permitted");
}

TEST_CASE("a message that is too short, too long or of another type does not decode")
{
    const Frame good = frame_of(encode(some_job()));
    for (std::size_t size = 0; size < good.body.size(); size++)
        REQUIRE_FALSE(decode<Job>({good.type, 0, good.body.substr(0, size)}));
    CHECK_FALSE(decode<Job>({good.type, 0, good.body + '\0'}));
    CHECK_FALSE(decode<Started>(good));
}

TEST_CASE("wild counts cost neither memory nor time")
{
    Encoder text, list;
    text(std::uint32_t{0xffffffff});
    list(std::uint64_t{1}, std::uint32_t{0xffffffff}, std::uint32_t{1});
    CHECK_FALSE(decode<Note>({FrameType::note, 0, text.take()}));
    CHECK_FALSE(decode<Fence>({FrameType::fence, 0, list.take()}));
}

TEST_CASE("damaged messages decode to nothing or to something, never to a crash")
{
    std::mt19937 random(7);
    const Frame good = frame_of(encode(some_job()));
    unsigned decoded = 0, valid = 0;
    for (int round = 0; round < 20000; round++) {
        Frame frame = good;
        for (int flips = 0; flips < 3; flips++)
            frame.body[random() % frame.body.size()] = static_cast<char>(random());
        const std::optional<Job> job = decode<Job>(frame);
        decoded += job.has_value();
        valid += job && job->valid();
    }
    CHECK(decoded > 0);
    CHECK(decoded < 20000);
    CHECK(valid < decoded);
}

TEST_CASE("a job whose parts do not fit together is not valid")
{
    Job job = some_job();
    REQUIRE(job.valid());
    SECTION("no name")
    {
        job.id.clear();
    }
    SECTION("no program")
    {
        job.arguments.clear();
    }
    SECTION("a node that does not exist")
    {
        job.node_of[1] = 2;
    }
    SECTION("no ranks at all")
    {
        job.node_of.clear();
    }
    SECTION("too few nodes")
    {
        job.hosts.pop_back();
    }
    CHECK_FALSE(job.valid());
}

TEST_CASE("a tree whose parts do not fit together is not valid")
{
    Tree tree;
    tree.hosts = {"a", "b"};
    tree.rsh = {"ssh"};
    tree.unetrun = "/bin/unetrun";
    REQUIRE(tree.valid());
    SECTION("a node that does not exist")
    {
        tree.node = 2;
    }
    SECTION("no node below another")
    {
        tree.fanout = 0;
    }
    SECTION("nothing to start on the hosts")
    {
        tree.unetrun.clear();
    }
    CHECK_FALSE(tree.valid());
}

TEST_CASE("a frame keeps the node that it goes to, and whoever passes it on changes nothing")
{
    const std::string bytes = encode(Note{"text"}, 7);
    const Frame frame = frame_of(bytes);
    CHECK(frame.node == 7);
    CHECK(encode(frame) == bytes);
}

TEST_CASE("what is no sequence of frames is quoted, fit for a terminal")
{
    FrameReader reader;
    reader.feed("Last \033[1mlogin: today\nfrom here\n");
    CHECK_THROWS_WITH(reader.next(),
                      "what arrives is not the launcher's protocol: 'Last ?[1mlogin: today'");
}

TEST_CASE("a version is understood whatever follows it")
{
    Encoder other;
    other(std::string("9.9"), std::string("something new"));
    std::string version;
    Decoder(other.take())(version);
    CHECK(version == "9.9");
}
