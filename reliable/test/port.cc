// SPDX-License-Identifier: BSD-3-Clause
#include "port.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <queue>
#include <random>
#include <stdexcept>

namespace port {

namespace {

constexpr double US = 1000;                 // in the simulator's ns
constexpr uint64_t OVERHEAD = 24 + 42 + 24; // bytes of a packet's way: Ethernet, IP and UDP, U-Net
constexpr uint64_t SEGMENT = 1448, TCP_OVERHEAD = 90; // bytes of a TCP's packet
constexpr size_t MESSAGE = 8096;

// What passes bits one after the other.
struct Line {
    double gbit = 0;
    uint64_t free_at = 0;

    uint64_t queued(uint64_t now) const
    {
        return free_at > now ? static_cast<uint64_t>(static_cast<double>(free_at - now) * gbit / 8)
                             : 0;
    }
    // When the last bit has left.
    uint64_t send(uint64_t now, uint64_t bytes)
    {
        free_at =
            std::max(free_at, now) + static_cast<uint64_t>(static_cast<double>(bytes) * 8 / gbit);
        return free_at;
    }
};

// One TCP that sends without end.
class Tcp {
public:
    explicit Tcp(bool cubic) : cubic_(cubic) {}

    bool may_send() const { return in_flight_ < static_cast<uint64_t>(cwnd_); }
    uint64_t send()
    {
        in_flight_++;
        return next_++;
    }
    void acked(double now_s, double rtt_s)
    {
        in_flight_--;
        if (cwnd_ < ssthresh_)
            cwnd_ += 1;
        else if (cubic_)
            grow_cubic(now_s, rtt_s);
        else
            cwnd_ += 1 / cwnd_;
    }
    void lost(uint64_t number, double now_s)
    {
        in_flight_--;
        if (number < recover_)
            return;
        recover_ = next_;
        w_max_ = cwnd_;
        cwnd_ = ssthresh_ = std::max(2.0, cwnd_ * (cubic_ ? BETA : 0.5));
        epoch_ = now_s;
        estimate_ = cwnd_;
        k_ = std::cbrt((w_max_ - cwnd_) / C);
    }
    uint64_t received = 0;

private:
    static constexpr double BETA = 0.7, C = 0.4; // of RFC 9438

    void grow_cubic(double now_s, double rtt_s)
    {
        const double t = now_s - epoch_ + rtt_s;
        const double target = std::clamp(C * std::pow(t - k_, 3) + w_max_, cwnd_, 1.5 * cwnd_);

        estimate_ += (estimate_ < w_max_ ? 3 * (1 - BETA) / (1 + BETA) : 1) / cwnd_;
        cwnd_ += (target - cwnd_) / cwnd_;
        cwnd_ = std::max(cwnd_, estimate_); // the Reno-friendly region
    }

    bool cubic_;
    double cwnd_ = 10, ssthresh_ = 1e9, w_max_ = 0, epoch_ = 0, k_ = 0, estimate_ = 0;
    uint64_t next_ = 0, recover_ = 0, in_flight_ = 0;
};

struct Host {
    struct World *world = nullptr;
    uint32_t rank = 0;
    reliable_engine *engine = nullptr;
    Line interface;
    std::vector<uint32_t> arrived; // packets that wait for the host to look
    bool looks = false;
    uint64_t received = 0; // from it, by the receiver
    uint64_t taken = 0;    // of its burst
    bool in_burst = false;
    uint64_t wake = RELIABLE_NEVER;
};

enum class What {
    AT_PORT,
    AT_HOST,
    LATE,
    LOOK,
    WAKE,
    TCP_SEND,
    TCP_AT_PORT,
    TCP_ARRIVED,
    TCP_ACK,
    TCP_LOST,
    BURST
};

struct Event {
    uint64_t time, order;
    What what;
    uint32_t who;
    uint64_t packet; // its index, or its number

    bool operator>(const Event &other) const
    {
        return time != other.time ? time > other.time : order > other.order;
    }
};

struct Packet {
    std::vector<uint64_t> words;
    size_t length = 0;
    uint32_t to = 0;
    bool marked = false;
};

struct World {
    explicit World(const Options &o) : options(o), random(o.seed)
    {
        port.gbit = o.gbit;
        half = static_cast<uint64_t>(o.round_trip_us * US / 2);
        for (uint32_t i = 0; i <= o.ranks; i++)
            open_host(i);
        for (uint32_t i = 0; i < o.renos + o.cubics; i++) {
            tcps.emplace_back(i >= o.renos);
            tcp_lines.push_back({interface_gbit(), 0});
            push(i * 1000, What::TCP_SEND, i);
        }
    }
    ~World()
    {
        for (auto &host : hosts)
            reliable_engine_close(host->engine);
    }
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    double interface_gbit() const
    {
        return options.interface_gbit > 0 ? options.interface_gbit : options.gbit;
    }

    void open_host(uint32_t rank)
    {
        auto host = std::make_unique<Host>();
        reliable_engine_config config = {};

        host->world = this;
        host->rank = rank;
        host->interface.gbit = interface_gbit();
        config.ranks = options.ranks + 1;
        config.rank = rank;
        config.auth = RELIABLE_AUTH_OFF; // is not what is tried here, and takes time
        config.seed = options.seed * 1000 + rank;
        config.packet_bytes = options.packet_bytes;
        config.batch = 32768;
        config.backlog = options.backlog;
        config.peer_timeout_us = 10000000;
        config.deliver = delivered;
        config.arg = host.get();
        if (reliable_engine_open(&config, &host->engine) != 0)
            throw std::runtime_error("reliable_engine_open");
        hosts.push_back(std::move(host));
        hosts.back()->wake = rank * 1000;
        push(rank * 1000, What::WAKE, rank);
    }

    static void delivered(void *arg, uint32_t source, uint32_t, const void *, size_t length, bool)
    {
        auto *world = static_cast<Host *>(arg)->world;

        world->hosts[source]->received += length;
        world->check_burst();
    }

    void push(uint64_t time, What what, uint32_t who, uint64_t packet = 0)
    {
        events.push({time, order++, what, who, packet});
    }
    double uniform(double from, double to)
    {
        return from + (to - from) * static_cast<double>(random() >> 11) * 0x1p-53;
    }
    bool chance(double p) { return p > 0 && uniform(0, 1) < p; }

    // ---- ranks ----

    uint32_t packet_new(uint32_t to, const void *bytes, size_t length)
    {
        if (free_packets.empty()) {
            free_packets.push_back(static_cast<uint32_t>(packets.size()));
            packets.emplace_back();
        }
        const uint32_t n = free_packets.back();

        free_packets.pop_back();
        packets[n].words.resize((length + 7) / 8);
        std::memcpy(packets[n].words.data(), bytes, length);
        packets[n].length = length;
        packets[n].to = to;
        packets[n].marked = false;
        return n;
    }

    void feed(Host &host)
    {
        static const uint8_t bytes[MESSAGE] = {};

        if (host.rank == 0)
            return;
        while (options.burst == 0 || host.taken < options.burst) {
            if (reliable_engine_send(host.engine, now / 1000, 0, 0, bytes, sizeof(bytes)) != 0)
                return;
            host.taken += sizeof(bytes);
        }
    }

    void serve(Host &host)
    {
        const void *bytes;
        uint32_t to;
        size_t length;

        feed(host);
        while ((bytes = reliable_engine_transmit(host.engine, now / 1000, &to, &length))) {
            const uint32_t n = packet_new(to, bytes, length);
            const uint64_t left = host.interface.send(now, length + OVERHEAD);

            if (to == 0)
                push(left + half / 2, What::AT_PORT, 0, n);
            else
                push(left + half, What::AT_HOST, to, n);
        }
        wake(host);
    }

    void wake(Host &host)
    {
        const uint64_t due = reliable_engine_deadline(host.engine);

        if (due == RELIABLE_NEVER)
            return;
        const uint64_t at = std::max(due * 1000, now + 500);
        if (at < host.wake) {
            host.wake = at;
            push(at, What::WAKE, host.rank);
        }
    }

    void at_port(uint32_t n)
    {
        if (!pass_port(packets[n].length + OVERHEAD) || chance(options.loss)) {
            free_packets.push_back(n);
            return;
        }
        packets[n].marked = options.mark > 0 && port.queued(now) > options.mark;
        push(port.free_at + half / 2, What::AT_HOST, 0, n);
    }

    bool pass_port(uint64_t bytes)
    {
        const uint64_t queued = port.queued(now);

        passed++;
        if (queued + bytes > options.buffer) {
            dropped++;
            return false;
        }
        if (passed % 16 == 0)
            depths.push_back(static_cast<double>(queued));
        port.send(now, bytes);
        return true;
    }

    void look_after(Host &host, double us)
    {
        if (!host.looks)
            push(now + static_cast<uint64_t>(us * US), What::LOOK, host.rank);
        host.looks = true;
    }

    void at_host(Host &host, uint32_t n, bool late)
    {
        if (!late && chance(options.late)) {
            push(now +
                     static_cast<uint64_t>(US * uniform(options.late_from_us, options.late_to_us)),
                 What::LATE, host.rank, n);
            return;
        }
        host.arrived.push_back(n);
        look_after(host, late ? 0.5 : options.look_us * uniform(0.1, 1));
    }

    void look(Host &host)
    {
        host.looks = false;
        for (size_t i = 0; i < host.arrived.size(); i++) {
            const uint32_t n = host.arrived[i];

            reliable_engine_marked(host.engine, packets[n].marked);
            reliable_engine_receive(host.engine, now / 1000, packets[n].words.data(),
                                    packets[n].length);
            free_packets.push_back(n);
        }
        host.arrived.clear();
        serve(host);
    }

    // ---- bursts ----

    void check_burst()
    {
        if (!bursting)
            return;
        for (uint32_t i = 1; i <= options.ranks; i++) {
            if (hosts[i]->received < (bursts + 1) * goal())
                return;
        }
        bursting = false;
        bursts++;
        report.bursts.push_back(static_cast<double>(now - burst_start) / US);
        push(now + 200000, What::BURST, 0);
    }
    uint64_t goal() const { return (options.burst + MESSAGE - 1) / MESSAGE * MESSAGE; }

    void start_burst()
    {
        bursting = true;
        burst_start = now;
        for (uint32_t i = 1; i <= options.ranks; i++) {
            hosts[i]->taken = 0;
            hosts[i]->wake = now + static_cast<uint64_t>(uniform(0, 3 * US));
            push(hosts[i]->wake, What::WAKE, i);
        }
    }

    // ---- TCPs ----

    void tcp_send(uint32_t i)
    {
        while (tcps[i].may_send()) {
            const uint64_t left = tcp_lines[i].send(now, SEGMENT + TCP_OVERHEAD);

            push(left + half / 2, What::TCP_AT_PORT, i, tcps[i].send());
        }
    }

    void handle_tcp(const Event &e)
    {
        Tcp &tcp = tcps[e.who];
        const double now_s = static_cast<double>(now) / 1e9;

        if (e.what == What::TCP_AT_PORT && pass_port(SEGMENT + TCP_OVERHEAD)) {
            push(port.free_at + half / 2, What::TCP_ARRIVED, e.who);
        } else if (e.what == What::TCP_AT_PORT) {
            push(now + 2 * half, What::TCP_LOST, e.who, e.packet);
        } else if (e.what == What::TCP_ARRIVED) {
            tcp.received += SEGMENT;
            push(now + half, What::TCP_ACK, e.who);
        } else {
            if (e.what == What::TCP_ACK)
                tcp.acked(now_s, 2e-9 * static_cast<double>(half));
            if (e.what == What::TCP_LOST)
                tcp.lost(e.packet, now_s);
            tcp_send(e.who);
        }
    }

    // ---- time ----

    void handle(const Event &e)
    {
        switch (e.what) {
        case What::AT_PORT:
            return at_port(static_cast<uint32_t>(e.packet));
        case What::AT_HOST:
        case What::LATE:
            return at_host(*hosts[e.who], static_cast<uint32_t>(e.packet), e.what == What::LATE);
        case What::LOOK:
            return look(*hosts[e.who]);
        case What::WAKE:
            if (hosts[e.who]->wake != e.time)
                return; // is not the timer any more
            hosts[e.who]->wake = RELIABLE_NEVER;
            return serve(*hosts[e.who]);
        case What::BURST:
            return start_burst();
        default:
            return handle_tcp(e);
        }
    }

    void run(uint64_t until)
    {
        while (!events.empty() && events.top().time < until) {
            const Event e = events.top();

            events.pop();
            now = e.time;
            handle(e);
        }
        now = until;
    }

    // ---- what came of it ----

    // Of all sending ranks.
    struct reliable_engine_stats total() const
    {
        struct reliable_engine_stats sum = {};

        for (uint32_t i = 1; i <= options.ranks; i++) {
            struct reliable_engine_stats one;

            reliable_engine_stats(hosts[i]->engine, &one);
            const auto *from = reinterpret_cast<const uint64_t *>(&one);
            auto *to = reinterpret_cast<uint64_t *>(&sum);
            for (size_t k = 0; k < sizeof(sum) / sizeof(uint64_t); k++)
                to[k] += from[k];
        }
        return sum;
    }

    Options options;
    std::mt19937_64 random;
    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
    std::vector<std::unique_ptr<Host>> hosts;
    std::vector<Tcp> tcps;
    std::vector<Line> tcp_lines;
    std::vector<Packet> packets;
    std::vector<uint32_t> free_packets;
    std::vector<double> depths;
    Line port;
    Report report;
    uint64_t half = 0, now = 0, order = 0, passed = 0, dropped = 0;
    uint64_t bursts = 0, burst_start = 0;
    bool bursting = false;
};

} // namespace

Report run(const Options &options, double seconds)
{
    World world(options);
    const auto end = static_cast<uint64_t>(seconds * 1e9);
    const double bits = options.gbit * static_cast<double>(end - end / 5) / 8; // bytes, in fact
    Report &report = world.report;
    std::vector<uint64_t> before, tcps_before;
    double total = 0, squares = 0;

    if (options.burst > 0)
        world.push(50000, What::BURST, 0);
    world.run(end / 5);
    for (auto &host : world.hosts)
        before.push_back(host->received);
    for (auto &tcp : world.tcps)
        tcps_before.push_back(tcp.received);
    const uint64_t passed = world.passed, dropped = world.dropped;
    const struct reliable_engine_stats early = world.total();
    world.depths.clear();
    world.run(end);

    report.least = 1e18;
    for (uint32_t i = 1; i <= options.ranks; i++) {
        const auto bytes = static_cast<double>(world.hosts[i]->received - before[i]);

        total += bytes;
        squares += bytes * bytes;
        report.least = std::min(report.least, bytes);
        report.most = std::max(report.most, bytes);
    }
    report.goodput = total / bits;
    report.jain = squares > 0 ? total * total / (options.ranks * squares) : 0;
    report.least *= options.ranks / total;
    report.most *= options.ranks / total;
    for (uint32_t i = 0; i < options.renos + options.cubics; i++)
        (i < options.renos ? report.reno_goodput : report.cubic_goodput) +=
            static_cast<double>(world.tcps[i].received - tcps_before[i]) / bits;
    report.drops = static_cast<double>(world.dropped - dropped) /
                   static_cast<double>(std::max<uint64_t>(1, world.passed - passed));
    report.stats = world.total();
    report.sent_again = static_cast<double>(report.stats.sent_again - early.sent_again) /
                        static_cast<double>(std::max<uint64_t>(1, report.stats.sent - early.sent));
    std::sort(world.depths.begin(), world.depths.end());
    if (!world.depths.empty())
        report.queue = world.depths[world.depths.size() / 2];
    return report;
}

} // namespace port
