// SPDX-License-Identifier: BSD-3-Clause
#include "sim.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <queue>
#include <random>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace sim {

namespace {

using Packet = std::vector<uint64_t>; // 8-byte words: packets are aligned

struct Event {
    uint64_t time;
    uint64_t order; // of events at one time
    uint32_t rank;
    int32_t packet; // -1: the rank's timer, -2: an action
    uint32_t length;
    bool served; // a packet that had its turn in the receiver's queue
    bool operator>(const Event &other) const
    {
        return time != other.time ? time > other.time : order > other.order;
    }
};

uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct Stream { // messages of one rank to another, as its sender or its receiver counts them
    uint64_t sent = 0, received = 0;
    uint64_t answers = 0; // that wait for room
    std::vector<uint8_t> parts;
};

struct Rank {
    struct Context {
        void *world;
        uint32_t rank;
    } context = {};
    reliable_engine *engine = nullptr;
    uint64_t wake = RELIABLE_NEVER;
    uint64_t busy_until_ns = 0;
    bool is_cut = false, is_dead = false, paused = false;
    std::vector<uint32_t> died;
    std::vector<size_t> flows;
    std::vector<Packet> put_off; // while paused
    std::vector<uint32_t> put_off_length;
    std::unordered_map<uint32_t, Stream> streams;
};

// A message says who sent it and which it is; its length and bytes follow from that.
struct Head {
    uint32_t from, to;
    uint64_t index;
};

enum : uint32_t { NO_ANSWER = 0, ANSWER_ME = 1 };

constexpr size_t LONGEST = 65536; // message after its head

} // namespace

struct Sim::World {
    Options options;
    std::mt19937_64 random;
    std::vector<Rank> ranks;
    std::vector<Flow> flows;
    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
    std::vector<Packet> packets;
    std::vector<int32_t> free_packets;
    std::vector<std::function<void()>> actions;
    std::string wrong;
    uint64_t now = 1, order = 0, carried = 0, sent = 0, delivered = 0, unsent = 0, delivered_at = 0;
    uint32_t longest = 0;

    explicit World(const Options &o) : options(o), random(o.seed), ranks(o.ranks) {}

    bool chance(double p) { return p > 0 && static_cast<double>(random() >> 11) * 0x1p-53 < p; }

    void fail(const std::string &what)
    {
        if (wrong.empty())
            wrong = what + " (seed " + std::to_string(options.seed) + ", at " +
                    std::to_string(now) + " us)";
    }

    void push(uint64_t time, uint32_t rank, int32_t packet, uint32_t length, bool served = false)
    {
        events.push({time, order++, rank, packet, length, served});
    }

    // ---- messages ----

    uint32_t length_of(const Head &head, uint32_t longest) const
    {
        const uint64_t x = mix(options.seed ^ mix(head.from * 65537ull + head.to) ^ head.index);
        const uint32_t most = x % 4 == 0 ? longest : std::min(longest, 32u);

        return static_cast<uint32_t>(sizeof(Head) + (x >> 8) % (most + 1));
    }

    // What follows the head: the bytes count up, from where the head says.
    static const uint8_t *body_of(const Head &head)
    {
        static const auto counting = [] {
            std::vector<uint8_t> bytes(256 + LONGEST);

            std::iota(bytes.begin(), bytes.end(), uint8_t{0});
            return bytes;
        }();

        return &counting[(head.index * 31 + head.from * 7) % 256];
    }

    bool send(uint32_t from, uint32_t to, uint32_t user, uint32_t longest)
    {
        static std::vector<uint8_t> bytes;
        Stream &stream = ranks[from].streams[to];
        const Head head = {from, to, stream.sent};
        const uint32_t length = length_of(head, longest);
        int rc;

        bytes.resize(length);
        std::memcpy(bytes.data(), &head, sizeof(head));
        std::memcpy(bytes.data() + sizeof(head), body_of(head), length - sizeof(head));
        rc = reliable_engine_send(ranks[from].engine, now, to, user, bytes.data(), length);
        if (rc == 0) {
            stream.sent++;
            sent++;
        } else if (rc != -EAGAIN && rc != -EPIPE) {
            fail("send from " + std::to_string(from) + " to " + std::to_string(to) + ": saw " +
                 std::to_string(rc) + ", expected 0 or -EAGAIN");
        }
        return rc != -EAGAIN;
    }

    void arrived(uint32_t at, uint32_t source, uint32_t user, const uint8_t *bytes, size_t length,
                 bool more)
    {
        Stream &stream = ranks[at].streams[source];
        Head head;

        if (more || !stream.parts.empty()) {
            stream.parts.insert(stream.parts.end(), bytes, bytes + length);
            if (more)
                return;
            bytes = stream.parts.data();
            length = stream.parts.size();
        }
        if (length < sizeof(head))
            return fail("a message of " + std::to_string(length) + " bytes");
        std::memcpy(&head, bytes, sizeof(head));
        if (head.from != source || head.to != at || head.index != stream.received) {
            std::ostringstream out;
            out << "message at " << at << " from " << source << ": saw number " << head.index
                << " of " << head.from << " to " << head.to << ", expected number "
                << stream.received;
            return fail(out.str());
        }
        if (length > sizeof(head) + LONGEST)
            return fail("a message of " + std::to_string(length) + " bytes");
        if (std::memcmp(bytes + sizeof(head), body_of(head), length - sizeof(head)) != 0)
            return fail("bytes of a message were altered");
        stream.received++;
        delivered++;
        delivered_at = now;
        stream.parts.clear();
        if ((user & ANSWER_ME) && (stream.answers > 0 || !send(at, source, 0, 32)))
            stream.answers++;
    }

    static void deliver(void *arg, uint32_t source, uint32_t user, const void *data, size_t length,
                        bool more)
    {
        auto *context = static_cast<Rank::Context *>(arg);

        static_cast<World *>(context->world)
            ->arrived(context->rank, source, user, static_cast<const uint8_t *>(data), length,
                      more);
    }

    static void died(void *arg, uint32_t rank)
    {
        auto *context = static_cast<Rank::Context *>(arg);

        static_cast<World *>(context->world)->ranks[context->rank].died.push_back(rank);
    }

    // ---- packets ----

    int32_t packet_new(const void *bytes, size_t length)
    {
        int32_t n;

        if (free_packets.empty()) {
            n = static_cast<int32_t>(packets.size());
            packets.emplace_back();
        } else {
            n = free_packets.back();
            free_packets.pop_back();
        }
        packets[n].resize((length + 7) / 8);
        if (length > 0)
            std::memcpy(packets[n].data(), bytes, length);
        return n;
    }

    void carry(uint32_t from, uint32_t to, const void *bytes, size_t length, bool again = false)
    {
        const Faults &f = options.faults;
        uint64_t arrival = now + options.delay;
        int32_t n;

        carried++;
        if (ranks[from].is_cut || ranks[to].is_cut || ranks[to].is_dead || chance(f.loss) ||
            length > options.mtu)
            return;
        longest = std::max(longest, static_cast<uint32_t>(length));
        if (chance(f.reorder))
            arrival += random() % (options.reordered + 1);
        if (chance(f.stray))
            to = static_cast<uint32_t>(random() % options.ranks);
        n = packet_new(bytes, length);
        if (chance(f.truncate))
            length = random() % (length + 1);
        if (length > 0 && chance(f.flip)) {
            const uint64_t bit = random() % (length * 8);
            reinterpret_cast<uint8_t *>(packets[n].data())[bit / 8] ^=
                static_cast<uint8_t>(1u << bit % 8);
        }
        push(arrival, to, n, static_cast<uint32_t>(length));
        if (!again && chance(f.duplicate))
            carry(from, to, bytes, length, true);
    }

    // A receiver takes one packet after the other, each in its time; when too many wait, the next
    // is lost.  False: the packet waits, or is lost.
    bool queue(const Event &e)
    {
        Rank &rank = ranks[e.rank];
        const uint64_t now_ns = now * 1000;

        if (options.service_ns == 0 || e.served)
            return true;
        if (rank.busy_until_ns >= now_ns + options.service_ns * options.backlog) {
            free_packets.push_back(e.packet);
            return false;
        }
        rank.busy_until_ns = std::max(rank.busy_until_ns, now_ns) + options.service_ns;
        push((rank.busy_until_ns + 999) / 1000, e.rank, e.packet, e.length, true);
        return false;
    }

    void packet_arrived(const Event &e)
    {
        Rank &rank = ranks[e.rank];

        if (rank.paused) {
            rank.put_off.push_back(packets[e.packet]);
            rank.put_off_length.push_back(e.length);
        } else if (!rank.is_dead && !rank.is_cut) {
            reliable_engine_receive(rank.engine, now, packets[e.packet].data(), e.length);
        }
        free_packets.push_back(e.packet);
    }

    // ---- ranks ----

    void work(uint32_t r)
    {
        Rank &rank = ranks[r];

        for (auto &[peer, stream] : rank.streams) {
            while (stream.answers > 0 && send(r, peer, 0, 32))
                stream.answers--;
        }
        for (size_t f : rank.flows) {
            Flow &flow = flows[f];

            while (flow.messages > 0 &&
                   send(r, flow.to, chance(flow.answered) ? ANSWER_ME : NO_ANSWER, flow.longest)) {
                flow.messages--;
                unsent--;
            }
        }
    }

    void pump(uint32_t r)
    {
        Rank &rank = ranks[r];
        const void *packet;
        uint32_t to;
        size_t length;

        if (rank.is_dead || rank.paused)
            return;
        work(r);
        while ((packet = reliable_engine_transmit(rank.engine, now, &to, &length)) != nullptr) {
            if (length > options.packet_bytes)
                fail("a packet of " + std::to_string(length) + " bytes");
            carry(r, to, packet, length);
        }
        wake_at(r, reliable_engine_deadline(rank.engine));
    }

    void wake_at(uint32_t r, uint64_t time)
    {
        if (time < ranks[r].wake) {
            ranks[r].wake = std::max(time, now + 1);
            push(ranks[r].wake, r, -1, 0);
        }
    }

    void handle(const Event &e)
    {
        if (e.packet == -2) {
            actions[e.length]();
            return;
        }
        if (e.packet >= 0 && !queue(e))
            return;
        if (e.packet >= 0)
            packet_arrived(e);
        else if (ranks[e.rank].wake != e.time)
            return; // an earlier one took its place
        else
            ranks[e.rank].wake = RELIABLE_NEVER;
        pump(e.rank);
    }

    bool step(uint64_t until)
    {
        if (!wrong.empty() || events.empty() || events.top().time > until)
            return false;
        const Event e = events.top();
        events.pop();
        now = e.time;
        handle(e);
        return true;
    }

    bool all_done() const
    {
        if (unsent > 0 || delivered < sent)
            return false;
        return std::all_of(ranks.begin(), ranks.end(), [](const Rank &r) {
            return r.is_dead || (reliable_engine_idle(r.engine) &&
                                 std::all_of(r.streams.begin(), r.streams.end(),
                                             [](const auto &s) { return s.second.answers == 0; }));
        });
    }

    void check_memory(uint32_t r)
    {
        struct reliable_engine_stats s;

        reliable_engine_stats(ranks[r].engine, &s);
        if (s.buffers > 2 * RELIABLE_WINDOW * s.connections)
            fail("rank " + std::to_string(r) + " has " + std::to_string(s.buffers) +
                 " buffers for " + std::to_string(s.connections) + " connections");
    }
};

Sim::Sim(const Options &options) : world(std::make_unique<World>(options))
{
    for (uint32_t r = 0; r < options.ranks; r++) {
        reliable_engine_config config = {};

        world->ranks[r].context = {world.get(), r};
        config.ranks = options.ranks;
        config.rank = r;
        config.key[0] = 0x0123456789abcdef;
        config.key[1] = mix(options.seed);
        config.seed = mix(options.seed + r);
        config.packet_bytes = options.packet_bytes;
        config.packet_sure = options.packet_sure;
        config.backlog = options.backlog;
        config.peer_timeout_us = options.peer_timeout;
        config.deliver = World::deliver;
        config.died = World::died;
        config.arg = &world->ranks[r].context;
        if (reliable_engine_open(&config, &world->ranks[r].engine) != 0)
            throw std::runtime_error("reliable_engine_open");
    }
}

Sim::~Sim()
{
    for (Rank &rank : world->ranks)
        reliable_engine_close(rank.engine);
}

void Sim::add(const Flow &flow)
{
    world->ranks[flow.from].flows.push_back(world->flows.size());
    world->flows.push_back(flow);
    world->unsent += flow.messages;
    world->wake_at(flow.from, world->now + 1);
}

void Sim::at(uint64_t time, std::function<void()> action)
{
    world->push(time, 0, -2, static_cast<uint32_t>(world->actions.size()));
    world->actions.push_back(std::move(action));
}

std::string Sim::run(uint64_t until)
{
    for (uint64_t steps = 1; world->step(until); steps++) {
        if (steps % 64 == 0 && world->all_done())
            break;
    }
    if (world->wrong.empty() && !world->all_done()) {
        std::ostringstream out;
        out << world->unsent << " messages not sent, " << world->sent - world->delivered
            << " of those sent not delivered";
        world->fail(out.str());
    }
    for (uint32_t r = 0; r < world->options.ranks; r++)
        world->check_memory(r);
    return world->wrong;
}

std::string Sim::pass(uint64_t duration)
{
    const uint64_t until = world->now + duration;

    while (world->step(until)) {
    }
    world->now = until;
    return world->wrong;
}

void Sim::cut(uint32_t rank, bool is_cut)
{
    world->ranks[rank].is_cut = is_cut;
}

void Sim::kill(uint32_t rank)
{
    world->ranks[rank].is_dead = true;
}

void Sim::narrow(uint32_t mtu)
{
    world->options.mtu = mtu;
}

void Sim::pause(uint32_t r, bool paused)
{
    Rank &rank = world->ranks[r];

    rank.paused = paused;
    if (paused)
        return;
    for (size_t i = 0; i < rank.put_off.size(); i++)
        reliable_engine_receive(rank.engine, world->now, rank.put_off[i].data(),
                                rank.put_off_length[i]);
    rank.put_off.clear();
    rank.put_off_length.clear();
    world->pump(r);
}

uint64_t Sim::now() const
{
    return world->now;
}

uint64_t Sim::packets() const
{
    return world->carried;
}

uint32_t Sim::take_longest()
{
    return std::exchange(world->longest, 0);
}

uint64_t Sim::finished() const
{
    return world->delivered_at;
}

uint64_t Sim::messages() const
{
    return world->delivered;
}

uint64_t Sim::delivered(uint32_t from, uint32_t to) const
{
    return world->ranks[to].streams[from].received;
}

const std::vector<uint32_t> &Sim::died(uint32_t rank) const
{
    return world->ranks[rank].died;
}

struct reliable_engine_stats Sim::stats(uint32_t rank) const
{
    struct reliable_engine_stats stats;

    reliable_engine_stats(world->ranks[rank].engine, &stats);
    return stats;
}

struct reliable_engine_stats Sim::total() const
{
    struct reliable_engine_stats sum = {};

    for (uint32_t r = 0; r < world->options.ranks; r++) {
        const struct reliable_engine_stats one = stats(r);
        const auto *from = reinterpret_cast<const uint64_t *>(&one);
        auto *to = reinterpret_cast<uint64_t *>(&sum);

        for (size_t i = 0; i < sizeof(sum) / sizeof(uint64_t); i++)
            to[i] += from[i];
    }
    return sum;
}

// ---- worlds at random ----------------------------------------------------------

uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = std::getenv(variable);

    return text ? std::strtoull(text, nullptr, 0) : otherwise;
}

namespace {

// A world of 2 to 24 ranks, faults and flows, all from the seed.
Options random_options(uint64_t seed)
{
    std::mt19937_64 random(seed);
    auto up_to = [&](double most) {
        return random() % 3 == 0 ? 0 : most * static_cast<double>(random() % 1000) / 1000;
    };
    Options o;

    o.seed = seed;
    o.ranks = 2 + random() % (seed % 4 == 0 ? 23 : 5);
    o.faults = {up_to(0.2), up_to(0.1), up_to(0.3), up_to(0.05), up_to(0.05), up_to(0.05)};
    o.delay = 1 + random() % 200;
    o.reordered = random() % 2000;
    o.packet_bytes = 256 + random() % (random() % 2 ? 1300 : 8000);
    if (random() % 3 == 0) {
        o.packet_sure = std::min(o.packet_bytes, 256 + static_cast<uint32_t>(random() % 512));
        o.mtu = o.packet_sure + static_cast<uint32_t>(random() % 8000);
    }
    o.service_ns = random() % 2 ? 0 : 500 + random() % 2000;
    o.backlog = 16 + random() % 1000;
    return o;
}

} // namespace

std::string random_world(uint64_t seed, uint64_t packets, uint64_t &carried)
{
    const Options options = random_options(seed);
    std::mt19937_64 random(~seed);
    const uint64_t flows = 1 + random() % (3 * options.ranks);
    Sim sim(options);
    std::string wrong;

    for (uint64_t i = 0; i < flows; i++)
        sim.add({static_cast<uint32_t>(random() % options.ranks),
                 static_cast<uint32_t>(random() % options.ranks), 1 + random() % (packets / flows),
                 random() % 3 == 0 ? 6000u : 48u, random() % 2 ? 0.0 : 0.5});
    // With a quarter lost each way some 250 packets get through in a second.
    wrong = sim.run(4 * 3600 * SECOND);
    carried += sim.packets();
    for (uint32_t r = 0; wrong.empty() && r < options.ranks; r++) {
        if (!sim.died(r).empty())
            wrong = "rank " + std::to_string(r) + " took rank " + std::to_string(sim.died(r)[0]) +
                    " for dead (seed " + std::to_string(seed) + ")";
    }
    return wrong;
}

} // namespace sim
