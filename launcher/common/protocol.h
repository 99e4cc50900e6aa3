// SPDX-License-Identifier: BSD-3-Clause
//
// What front end, relays and daemons say to each other.
//
// A frame is a type, a length and a node, 32 bits little-endian each, and a body.  The
// node is the receiver's on the way down, the sender's on the way up.  The body of
// a message is its fields in order: integers little-endian, texts and lists with a
// 32-bit count in front.  Nothing of a frame is trusted: a body that is too short, too
// long or absurd does not decode, and a stream that is no sequence of frames is refused.
//
//   front end                          daemon
//                         <-  Hello      its version, its node's cores
//     Tree                ->             which node it is
//                         <-  Networks   by which others can be reached, if Tree asks
//     Job                 ->             make the directory, start the PMIx server
//                         <-  Started    once per rank, or Failed
//                         <-  Joined     when a rank has called PMIx_Init
//     Stdin...            ->
//                         <-  Output...  within the window that Credit opens again
//     Signal, End         ->
//     Inspect             ->
//                         <-  Report     what a rank is at, once per rank
//                         <-  Stuck      all ranks of the node wait, or no longer
//     AskStuck            ->             which of the two, once more?
//                         <-  Exited     once per started rank
//                         <-  Done       every rank, child and byte is gone
//     end of file         ->             stop the PMIx server, remove the directory, exit
//
// On other machines a relay stands between: it begins with Hello and Tree as well, starts
// its node's daemon and the relays below it, and passes on what is not its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/failure.h"

namespace unetrun {

enum class FrameType : std::uint32_t {
    hello = 1,
    tree,
    networks,
    beat,
    lost,
    job,
    started,
    joined,
    exited,
    failed,
    aborted,
    note,
    output,
    output_credit,
    input,
    input_credit,
    input_closed,
    signal,
    end,
    fence,
    fence_done,
    modex,
    modex_done,
    inspect,
    report,
    stuck,
    ask_stuck,
    done,
    last = done
};

struct Frame {
    FrameType type;
    std::uint32_t node;
    std::string body;
};

constexpr std::uint32_t every_node = ~0u;
constexpr std::size_t frame_header_size = 12;
constexpr std::size_t frame_body_max = std::size_t{256} << 20;

// How much may be under way unread: a rank's output waits in the rank, and standard
// input in its file, until the other side has room.
constexpr std::uint32_t output_window = 1 << 20;
constexpr std::uint32_t input_window = 64 << 10;

class Encoder {
public:
    template <class... Fields> void operator()(const Fields &...fields) { (put(fields), ...); }
    std::string take() { return std::move(bytes_); }

private:
    template <class T> void put(T value) requires std::is_integral_v<T> || std::is_enum_v<T>
    {
        auto bits = static_cast<std::uint64_t>(value);
        for (std::size_t i = 0; i < sizeof(T); i++, bits >>= 8)
            bytes_.push_back(static_cast<char>(bits & 0xff));
    }
    void put(const std::string &text)
    {
        put(static_cast<std::uint32_t>(text.size()));
        bytes_ += text;
    }
    template <class T> void put(const T &record) requires std::is_class_v<T>
    {
        record.fields(*this);
    }
    template <class T> void put(const std::vector<T> &list)
    {
        put(static_cast<std::uint32_t>(list.size()));
        for (const T &item : list)
            put(item);
    }

    std::string bytes_;
};

class Decoder {
public:
    explicit Decoder(std::string_view bytes) : left_(bytes) {}
    template <class... Fields> void operator()(Fields &...fields) { (get(fields), ...); }

    // Whether every field was there, and nothing else.
    bool complete() const { return good_ && left_.empty(); }

private:
    std::string_view bytes(std::size_t count)
    {
        good_ = good_ && count <= left_.size();
        const std::string_view piece = left_.substr(0, good_ ? count : 0);
        left_.remove_prefix(piece.size());
        return piece;
    }
    template <class T> void get(T &value) requires std::is_integral_v<T> || std::is_enum_v<T>
    {
        std::uint64_t bits = 0;
        int shift = 0;
        for (const char byte : bytes(sizeof(T))) {
            bits |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
            shift += 8;
        }
        value = static_cast<T>(bits);
    }
    void get(std::string &text)
    {
        std::uint32_t size = 0;
        get(size);
        text = bytes(size);
    }
    template <class T> void get(T &record) requires std::is_class_v<T> { record.fields(*this); }
    // Grows with what really arrives, so that a wild count costs nothing.
    template <class T> void get(std::vector<T> &list)
    {
        std::uint32_t count = 0;
        get(count);
        list.clear();
        while (good_ && count-- > 0) {
            good_ = !left_.empty();
            get(list.emplace_back());
        }
    }

    std::string_view left_;
    bool good_ = true;
};

// Each message names its fields once, for both directions.
#define UNETRUN_MESSAGE(frame_type, ...)                                                           \
    static constexpr FrameType type = FrameType::frame_type;                                       \
    template <class Archive> void fields(Archive &archive)                                         \
    {                                                                                              \
        archive(__VA_ARGS__);                                                                      \
    }                                                                                              \
    template <class Archive> void fields(Archive &archive) const                                   \
    {                                                                                              \
        archive(__VA_ARGS__);                                                                      \
    }

enum class BindTo : std::uint8_t { automatic, core, socket, none };
enum class Stream : std::uint8_t { out, err };

// The first words of a relay or daemon.
struct Hello {
    std::string version; // first for ever, so that any two versions understand it
    std::uint32_t cores = 0;
    UNETRUN_MESSAGE(hello, version, cores)
};

// Where the daemons are.
struct Tree {
    std::uint32_t node = 0;            // the receiver's own
    std::uint32_t fanout = 1;          // relays below each, and below the front end
    std::uint32_t here = every_node;   // the node on the front end's own machine, if one is
    std::vector<std::string> hosts;    // names of the nodes
    std::vector<std::string> rsh;      // the remote shell and its arguments; none: all are here
    std::string unetrun;               // its path on every node
    std::vector<std::string> backends; // to look for; none: there is nothing to choose
    std::vector<std::string> places;   // variables that say where: NAME=VALUE
    bool valid() const;                // the parts fit together

    UNETRUN_MESSAGE(tree, node, fanout, here, hosts, rsh, unetrun, backends, places)
};

// A way for a node's ranks to reach other nodes'.
struct Network {
    std::string backend;
    std::string name;     // of the IP network in which its Ethernet is; udp: empty
    std::string obstacle; // why it cannot be used; empty: it can
    template <class Archive> void fields(Archive &archive) { archive(backend, name, obstacle); }
    template <class Archive> void fields(Archive &archive) const
    {
        archive(backend, name, obstacle);
    }
};

struct Networks {
    std::vector<Network> found; // one for each backend of Tree
    UNETRUN_MESSAGE(networks, found)
};

// A sign of life, when there has been nothing else to say.
struct Beat {
    UNETRUN_MESSAGE(beat)
};

// The node that the frame names is gone, and those below it.
struct Lost {
    std::int32_t code = 0;
    std::string text;
    UNETRUN_MESSAGE(lost, code, text)
};

// Everything a daemon has to know of the job.
struct Job {
    std::string id;                       // the PMIx namespace, unique and secret: PMIx believes
                                          // who knows it whatever he says about who he is
    std::string key;                      // the job's secret: 32 hex digits
    std::vector<std::string> hosts;       // names of the nodes that have ranks
    std::vector<std::uint32_t> node_of;   // each rank's
    std::uint32_t node = 0;               // the daemon's own, which Tree tells it
    std::uint32_t sharing = 1;            // nodes that are really this same machine
    std::string directory;                // where the ranks run
    std::vector<std::string> arguments;   // the program and its arguments
    std::string program;                  // its bytes, if a copy of it is to run; or none
    std::vector<std::string> environment; // NAME=VALUE
    std::vector<std::string> wrapper;     // a program that runs it, and its arguments, ...
    std::vector<std::uint32_t> wrapped;   // for these ranks; none: for all
    std::string network;                  // the backend between nodes; empty: the ranks choose
    BindTo bind_to = BindTo::automatic;
    bool verbose = false;

    std::uint32_t ranks() const { return static_cast<std::uint32_t>(node_of.size()); }
    std::vector<std::uint32_t> ranks_of(std::uint32_t node) const; // ascending
    bool valid() const;                                            // the parts fit together

    UNETRUN_MESSAGE(job, id, key, hosts, node_of, sharing, directory, arguments, program,
                    environment, wrapper, wrapped, network, bind_to, verbose)
};

struct Started {
    std::uint32_t rank = 0;
    std::int32_t pid = 0;
    UNETRUN_MESSAGE(started, rank, pid)
};

struct Joined {
    std::uint32_t rank = 0;
    UNETRUN_MESSAGE(joined, rank)
};

struct Exited {
    std::uint32_t rank = 0;
    std::int32_t pid = 0;
    std::int32_t status = 0; // as waitpid gives it
    bool joined = false;     // it called PMIx_Init
    bool left = false;       // it called PMIx_Finalize
    std::string starved;     // the system has meanwhile killed for lack of memory; or empty
    std::string place;       // of the source where it was at fault; empty: not known
    UNETRUN_MESSAGE(exited, rank, pid, status, joined, left, starved, place)
};

// The daemon cannot run the job.
struct Failed {
    std::int32_t code = 0;
    std::string text;
    UNETRUN_MESSAGE(failed, code, text)
};

// A rank called PMIx_Abort.
struct Aborted {
    std::uint32_t rank = 0;
    std::int32_t code = 0;
    std::string text;
    UNETRUN_MESSAGE(aborted, rank, code, text)
};

// Something to tell the user who asked for -v.
struct Note {
    std::string text;
    UNETRUN_MESSAGE(note, text)
};

// Whole lines of a rank; or the end of a line, or a piece of a very long one.
struct Output {
    std::uint32_t rank = 0;
    Stream stream = Stream::out;
    std::string bytes;
    UNETRUN_MESSAGE(output, rank, stream, bytes)
};

// So many bytes of output have left the front end.
struct OutputCredit {
    std::uint32_t bytes = 0;
    UNETRUN_MESSAGE(output_credit, bytes)
};

// Standard input for rank 0; no bytes: its end.
struct Input {
    std::string bytes;
    UNETRUN_MESSAGE(input, bytes)
};

struct InputCredit {
    std::uint32_t bytes = 0;
    UNETRUN_MESSAGE(input_credit, bytes)
};

// Rank 0 reads no more.
struct InputClosed {
    UNETRUN_MESSAGE(input_closed)
};

// Forward a signal to every rank.
struct Signal {
    std::int32_t number = 0;
    UNETRUN_MESSAGE(signal, number)
};

// End the ranks: a signal to each, and SIGKILL for what is left of the job after a while.
struct End {
    std::int32_t signal = 0;
    std::uint32_t grace_ms = 0;
    UNETRUN_MESSAGE(end, signal, grace_ms)
};

// The part that a node, or a relay's nodes, have in a fence of ranks of several nodes.  `ranks` is
// empty for all of them.
struct Fence {
    std::uint64_t ticket = 0; // given back in the answer
    std::vector<std::uint32_t> ranks;
    std::string data;
    UNETRUN_MESSAGE(fence, ticket, ranks, data)
};

struct FenceDone {
    std::uint64_t ticket = 0;
    bool good = false;
    std::string data; // of all nodes
    UNETRUN_MESSAGE(fence_done, ticket, good, data)
};

// A node asks for what a rank of another node has put.  The front end passes it on to
// that node, whose answer returns the same way.
struct Modex {
    std::uint64_t ticket = 0;
    std::uint32_t node = 0; // who asks
    std::uint32_t rank = 0; // about whom
    UNETRUN_MESSAGE(modex, ticket, node, rank)
};

struct ModexDone {
    std::uint64_t ticket = 0;
    std::uint32_t node = 0; // who asked
    std::int32_t status = 0;
    std::string data;
    UNETRUN_MESSAGE(modex_done, ticket, node, status, data)
};

// Tell what every rank is at; if the user has not asked for it, not of other programs
// than Split-C's.
struct Inspect {
    bool asked = false;
    UNETRUN_MESSAGE(inspect, asked)
};

struct Report {
    std::uint32_t rank = 0;
    std::int32_t pid = 0;
    std::string text;
    UNETRUN_MESSAGE(report, rank, pid, text)
};

// Whether all ranks of the node have been waiting for some time, and nothing comes; and the
// messages between nodes that they have sent and received until then.
struct Stuck {
    bool stuck = false;
    std::uint64_t sent = 0, received = 0;
    std::uint32_t round = 0; // of AskStuck, or 0 if nobody has asked
    UNETRUN_MESSAGE(stuck, stuck, sent, received, round)
};

// Look once more, and answer by Stuck.
struct AskStuck {
    std::uint32_t round = 0;
    UNETRUN_MESSAGE(ask_stuck, round)
};

struct Done {
    UNETRUN_MESSAGE(done)
};

#undef UNETRUN_MESSAGE

// What both sides of a conversation have to have in common.
std::string protocol_version();

std::string encode(const Frame &frame);

template <class Message> std::string encode(const Message &message, std::uint32_t node = 0)
{
    Encoder encoder;
    message.fields(encoder);
    return encode(Frame{Message::type, node, encoder.take()});
}

template <class Message> std::optional<Message> decode(const Frame &frame)
{
    Message message;
    Decoder decoder(frame.body);
    if (frame.type == Message::type)
        message.fields(decoder);
    if (frame.type != Message::type || !decoder.complete())
        return std::nullopt;
    return message;
}

// The same of a frame that has to be well-formed; `sender` is for the message if it is not.
template <class Message> Message take(const Frame &frame, const char *sender)
{
    std::optional<Message> message = decode<Message>(frame);
    if (!message)
        throw Failure(exit_trouble, std::string("a malformed message arrived from ") + sender);
    return *std::move(message);
}

// A stream that is no sequence of frames.
struct Nonsense : Failure {
    using Failure::Failure;
};

// Cuts a byte stream into frames.
class FrameReader {
public:
    void feed(std::string_view bytes);

    // The next whole frame, if it has arrived.  Throws Nonsense, with what came
    // instead, for a stream that is none of ours; there is no way to go on then.
    std::optional<Frame> next();

private:
    std::string bytes_;
    std::size_t taken_ = 0;
};

} // namespace unetrun
