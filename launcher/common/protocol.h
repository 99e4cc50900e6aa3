// SPDX-License-Identifier: BSD-3-Clause
//
// The messages that front end, relays and daemons send each other, as bodies of frames
// (common/frame.h).  A receiver trusts nothing: a body that is too short or too long does not
// decode, and values that do not fit together are refused (valid()).
//
//   front end                          daemon
//                         <-  Hello      its version, and how many cores its node has
//     Tree                ->             which node it is
//                         <-  Networks   which networks the node has, if Tree asks for them
//     Job                 ->             make the directory, start the PMIx server and the ranks
//                         <-  Started    for each rank, or Failed
//                         <-  Joined     when a rank has called PMIx_Init
//     Input...            ->
//                         <-  Output...  within the window that OutputCredit opens again
//     Signal, End         ->
//     Inspect             ->
//                         <-  Report     what a rank is doing, for each rank
//                         <-  Stuck      all ranks of the node wait, or no longer do
//     AskStuck            ->             send Stuck once more
//                         <-  Exited     for each rank that was started
//                         <-  Done       all ranks have ended, and all their output is sent
//     end of file         ->             remove the directory and exit
//
// On another machine there is a relay in between.  It begins with Hello and Tree like a daemon,
// starts the daemon of its node and the relays below it, and passes all other messages on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "common/codec.h"
#include "common/failure.h"
#include "common/frame.h"

namespace unetrun {

// How many bytes may be sent before the receiver gives credit.  A rank's further output waits in
// its pipe, further input in the front end's standard input.
constexpr std::uint32_t output_window = 1 << 20;
constexpr std::uint32_t input_window = 64 << 10;

enum class BindTo : std::uint8_t { automatic, core, l3, numa, socket, none };
enum class Stream : std::uint8_t { out, err };

// ---- starting the daemons -------------------------------------------------------------

// The first message of a relay or daemon.
struct Hello {
    static constexpr FrameType type = FrameType::hello;
    static auto fields(auto &m) { return std::tie(m.version, m.cores); }

    std::string version; // is always the first field, so that any two versions understand it
    std::uint32_t cores = 0;
};

// All nodes of the job, and the tree in which they are reached.
struct Tree {
    static constexpr FrameType type = FrameType::tree;
    static auto fields(auto &m)
    {
        return std::tie(m.node, m.fanout, m.here, m.hosts, m.rsh, m.unetrun, m.backends, m.places);
    }
    bool valid() const; // the fields fit together

    std::uint32_t node = 0;            // the receiver
    std::uint32_t fanout = 1;          // relays below each relay, and below the front end
    std::uint32_t here = every_node;   // the node on the front end's machine, if there is one
    std::vector<std::string> hosts;    // names of the nodes
    std::vector<std::string> rsh;      // the remote shell and its arguments; none: all are here
    std::string unetrun;               // its path on every node
    std::vector<std::string> backends; // to look for; none: there is nothing to choose
    std::vector<std::string> places;   // variables that say where to look: NAME=VALUE
};

// A way by which the ranks of a node can reach those of other nodes.
struct Network {
    static auto fields(auto &m) { return std::tie(m.backend, m.name, m.obstacle); }

    std::string backend;
    std::string name;     // the IP network of its Ethernet; empty for udp
    std::string obstacle; // why it cannot be used; empty if it can
};

struct Networks {
    static constexpr FrameType type = FrameType::networks;
    static auto fields(auto &m) { return std::tie(m.found); }

    std::vector<Network> found; // one for each of Tree::backends
};

// Shows that the sender lives, when it has had nothing else to send.
struct Beat {
    static constexpr FrameType type = FrameType::beat;
    static auto fields(auto &) { return std::tuple<>(); }
};

// The connection to the frame's node is lost, and with it those to the nodes below.
struct Lost {
    static constexpr FrameType type = FrameType::lost;
    static auto fields(auto &m) { return std::tie(m.code, m.text); }

    std::int32_t code = 0;
    std::string text;
};

// ---- running the ranks ----------------------------------------------------------------

// All that a daemon has to know of the job.
struct Job {
    static constexpr FrameType type = FrameType::job;
    static auto fields(auto &m)
    {
        return std::tie(m.id, m.key, m.hosts, m.node_of, m.sharing, m.directory, m.arguments,
                        m.program, m.environment, m.wrapper, m.wrapped, m.network, m.bind_to,
                        m.cores_per_rank, m.report_bindings, m.backtrace, m.verbose);
    }
    bool valid() const; // the fields fit together
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(node_of.size()); }
    std::vector<std::uint32_t> ranks_of(std::uint32_t node) const; // ascending

    std::string id;                       // the PMIx namespace.  It is secret, as the PMIx server
                                          // believes everybody who knows it
    std::string key;                      // the job's secret: 32 hexadecimal digits
    std::vector<std::string> hosts;       // names of the nodes that have ranks
    std::vector<std::uint32_t> node_of;   // the node of each rank
    std::uint32_t sharing = 1;            // how many nodes this one machine acts as (--nodes)
    std::string directory;                // where the ranks run
    std::vector<std::string> arguments;   // the program and its arguments
    std::string program;                  // the bytes of its file, if a copy is to run (--stage)
    std::vector<std::string> environment; // NAME=VALUE
    std::vector<std::string> wrapper;     // a program that runs it (--gdb), and arguments ...
    std::vector<std::uint32_t> wrapped;   // ... for these ranks; none: for all
    std::string network;                  // the backend between nodes; empty: the ranks choose
    BindTo bind_to = BindTo::automatic;
    std::uint32_t cores_per_rank = 1; // of BindTo::core
    bool report_bindings = false;     // tell which processors each rank has
    bool backtrace = false;           // tell the stacks of ranks that die
    bool verbose = false;
};

struct Started {
    static constexpr FrameType type = FrameType::started;
    static auto fields(auto &m) { return std::tie(m.rank, m.pid); }

    std::uint32_t rank = 0;
    std::int32_t pid = 0;
};

struct Joined {
    static constexpr FrameType type = FrameType::joined;
    static auto fields(auto &m) { return std::tie(m.rank); }

    std::uint32_t rank = 0;
};

struct Exited {
    static constexpr FrameType type = FrameType::exited;
    static auto fields(auto &m)
    {
        return std::tie(m.rank, m.status, m.joined, m.left, m.starved, m.place);
    }

    std::uint32_t rank = 0;
    std::int32_t status = 0; // as waitpid gives it
    bool joined = false;     // it called PMIx_Init
    bool left = false;       // it called PMIx_Finalize
    std::string starved;     // what the system killed meanwhile for lack of memory; or empty
    std::string place;       // where in the source its fault was; empty: not known
};

// The daemon cannot run the job.
struct Failed {
    static constexpr FrameType type = FrameType::failed;
    static auto fields(auto &m) { return std::tie(m.code, m.text); }

    std::int32_t code = 0;
    std::string text;
};

// A rank called PMIx_Abort.
struct Aborted {
    static constexpr FrameType type = FrameType::aborted;
    static auto fields(auto &m) { return std::tie(m.rank, m.code, m.text); }

    std::uint32_t rank = 0;
    std::int32_t code = 0;
    std::string text;
};

// A line for the user.
struct Note {
    static constexpr FrameType type = FrameType::note;
    static auto fields(auto &m) { return std::tie(m.text); }

    std::string text;
};

// All ranks of the node have ended, and everything that they wrote has been sent.
struct Done {
    static constexpr FrameType type = FrameType::done;
    static auto fields(auto &) { return std::tuple<>(); }
};

// ---- output and input -----------------------------------------------------------------

// Whole lines of a rank; or the end of a line, or a piece of a very long one.
struct Output {
    static constexpr FrameType type = FrameType::output;
    static auto fields(auto &m) { return std::tie(m.rank, m.stream, m.bytes); }

    std::uint32_t rank = 0;
    Stream stream = Stream::out;
    std::string bytes;
};

// The front end has written so many bytes of output.
struct OutputCredit {
    static constexpr FrameType type = FrameType::output_credit;
    static auto fields(auto &m) { return std::tie(m.bytes); }

    std::uint32_t bytes = 0;
};

// Standard input for rank 0; no bytes: its end.
struct Input {
    static constexpr FrameType type = FrameType::input;
    static auto fields(auto &m) { return std::tie(m.bytes); }

    std::string bytes;
};

// The daemon has written so many bytes of input to rank 0.
struct InputCredit {
    static constexpr FrameType type = FrameType::input_credit;
    static auto fields(auto &m) { return std::tie(m.bytes); }

    std::uint32_t bytes = 0;
};

// Rank 0 reads no more.
struct InputClosed {
    static constexpr FrameType type = FrameType::input_closed;
    static auto fields(auto &) { return std::tuple<>(); }
};

// ---- ending the ranks -----------------------------------------------------------------

// Send a signal to every rank.
struct Signal {
    static constexpr FrameType type = FrameType::signal;
    static auto fields(auto &m) { return std::tie(m.number); }

    std::int32_t number = 0;
};

// End the job: send a signal to every rank, and SIGKILL to what is left of them after a while.
struct End {
    static constexpr FrameType type = FrameType::end;
    static auto fields(auto &m) { return std::tie(m.signal, m.grace_ms, m.slow); }

    std::int32_t signal = 0;
    std::uint32_t grace_ms = 0;
    bool slow = false; // because the ranks have not come to their ends: a time limit, a deadlock
};

// ---- exchange between ranks, by PMIx --------------------------------------------------

// The part of a node, or of the nodes below a relay, in a fence of ranks of several nodes.
struct Fence {
    static constexpr FrameType type = FrameType::fence;
    static auto fields(auto &m) { return std::tie(m.ticket, m.ranks, m.data); }

    std::uint64_t ticket = 0;         // returned in the answer
    std::vector<std::uint32_t> ranks; // that take part; none: all
    std::string data;
};

struct FenceDone {
    static constexpr FrameType type = FrameType::fence_done;
    static auto fields(auto &m) { return std::tie(m.ticket, m.good, m.data); }

    std::uint64_t ticket = 0;
    bool good = false;
    std::string data; // of all nodes
};

// A node asks for what a rank of another node has published.  The front end passes the question
// on to that node, and the answer back.
struct Modex {
    static constexpr FrameType type = FrameType::modex;
    static auto fields(auto &m) { return std::tie(m.ticket, m.node, m.rank); }

    std::uint64_t ticket = 0;
    std::uint32_t node = 0; // that asks
    std::uint32_t rank = 0; // about which it asks
};

struct ModexDone {
    static constexpr FrameType type = FrameType::modex_done;
    static auto fields(auto &m) { return std::tie(m.ticket, m.node, m.status, m.data); }

    std::uint64_t ticket = 0;
    std::uint32_t node = 0; // that asked
    std::int32_t status = 0;
    std::string data;
};

// ---- watching the ranks ---------------------------------------------------------------

// Send a Report of every rank.
struct Inspect {
    static constexpr FrameType type = FrameType::inspect;
    static auto fields(auto &m) { return std::tie(m.asked); }

    bool asked = false; // by the user; if not, no reports are sent unless a rank runs Split-C
};

struct Report {
    static constexpr FrameType type = FrameType::report;
    static auto fields(auto &m) { return std::tie(m.rank, m.text); }

    std::uint32_t rank = 0;
    std::string text;
};

// Whether all ranks of the node have been waiting in vain for some time, and how many messages
// they have sent to other nodes and received from them.
struct Stuck {
    static constexpr FrameType type = FrameType::stuck;
    static auto fields(auto &m) { return std::tie(m.stuck, m.sent, m.received, m.round); }

    bool stuck = false;
    std::uint64_t sent = 0, received = 0;
    std::uint32_t round = 0; // of the AskStuck that this answers; 0: it answers none
};

// Look once more, and answer with Stuck.
struct AskStuck {
    static constexpr FrameType type = FrameType::ask_stuck;
    static auto fields(auto &m) { return std::tie(m.round); }

    std::uint32_t round = 0;
};

// ---- messages as frames ---------------------------------------------------------------

// The version of unetrun and of its messages, which has to be the same on all nodes.
std::string protocol_version();

template <class Message> std::string encode(const Message &message, std::uint32_t node = 0)
{
    Encoder encoder;
    encoder(message);
    return encode(Frame{Message::type, node, encoder.take()});
}

// Nothing if the frame is of another type or its body does not decode.
template <class Message> std::optional<Message> decode(const Frame &frame)
{
    if (frame.type != Message::type)
        return std::nullopt;
    Message message;
    Decoder decoder(frame.body);
    decoder(message);
    if (!decoder.complete())
        return std::nullopt;
    return message;
}

// The same, but throws Failure instead.  `sender` is for the message.
template <class Message> Message take(const Frame &frame, const char *sender)
{
    std::optional<Message> message = decode<Message>(frame);
    if (!message)
        throw Failure(exit_trouble, std::string("a malformed message arrived from ") + sender);
    return *std::move(message);
}

} // namespace unetrun
