// SPDX-License-Identifier: BSD-3-Clause
#include "liar.h"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <new>
#include <poll.h>
#include <random>
#include <sched.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <system_error>
#include <unet/unet_frame.h>
#include <unistd.h>

namespace {

constexpr size_t REMEMBERED = 4096; // frames

[[noreturn]] void fail(const std::string &what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

void enter_network_of(pid_t pid)
{
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);

    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0)
        fail("cannot go to " + path);
    close(fd);
}

// From here on frames on the wire are as on any: whole, with their checksums, no longer than the
// MTU.
void leave_nothing_to_the_wire(const char *interface)
{
    ethtool_value off = {ETHTOOL_STXCSUM, 0};
    ifreq request = {};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    std::strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char *>(&off);
    if (ioctl(fd, SIOCETHTOOL, &request) != 0)
        fail("cannot switch off what " + std::string(interface) + " leaves to the wire");
    close(fd);
}

// A cable's end.
int raw_socket(const char *interface)
{
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(ETH_P_ALL));
    const int room = 16 << 20, on = 1;
    packet_mreq all = {};
    sockaddr_ll here = {};

    here.sll_family = AF_PACKET;
    here.sll_protocol = htons(ETH_P_ALL);
    here.sll_ifindex = all.mr_ifindex = static_cast<int>(if_nametoindex(interface));
    all.mr_type = PACKET_MR_PROMISC;
    if (fd < 0 || bind(fd, reinterpret_cast<sockaddr *>(&here), sizeof here) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof all) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0)
        fail("cannot listen to " + std::string(interface));
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    return fd;
}

class Middle {
public:
    Middle(const Lies &lies, unsigned seed, Deeds &deeds)
        : lies_(lies), random_(seed), deeds_(deeds), wire_{raw_socket("host1"), raw_socket("host2")}
    {
    }

    [[noreturn]] void serve()
    {
        for (;;) {
            pollfd both[] = {{wire_[0], POLLIN, 0}, {wire_[1], POLLIN, 0}};
            poll(both, 2, -1);
            for (int side = 0; side < 2; side++)
                if (both[side].revents)
                    take_from(side);
        }
    }

private:
    // A frame of Ethernet, the side that it went to, and where in it frames of U-Net are.
    struct Seen {
        int to;
        Bytes bytes;
        size_t begin, end;
        size_t checksum; // of what carries them; 0: there is none
    };

    // Nothing: it is not of the job's ranks.
    static std::optional<Seen> find_frames(int to, Bytes bytes)
    {
        constexpr size_t header = sizeof(ether_header);
        ether_header ethernet;

        if (bytes.size() <= header)
            return {};
        std::memcpy(&ethernet, bytes.data(), header);
        if (ntohs(ethernet.ether_type) == UNET_ETHERTYPE)
            return Seen{to, bytes, header, bytes.size(), 0};
        const auto udp = datagram_in(bytes.data() + header, bytes.size() - header);
        if (ntohs(ethernet.ether_type) != ETH_P_IP || !udp)
            return {};
        return Seen{to, bytes, header + udp->begin, header + udp->end,
                    header + udp->header + offsetof(udphdr, check)};
    }

    void take_from(int side)
    {
        static uint8_t buffer[65536];

        for (ssize_t n; (n = recv(wire_[side], buffer, sizeof buffer, 0)) > 0;) {
            if (auto seen = find_frames(1 - side, Bytes(buffer, buffer + n)))
                lie(std::move(*seen));
            else
                send(wire_[1 - side], buffer, static_cast<size_t>(n), 0);
        }
    }

    bool chance(double probability)
    {
        return std::uniform_real_distribution<>(0, 1)(random_) < probability;
    }

    void pass(const Seen &seen) { send(wire_[seen.to], seen.bytes.data(), seen.bytes.size(), 0); }

    static uint8_t *payload(Seen &seen) { return seen.bytes.data() + seen.begin; }

    static size_t length(const Seen &seen) { return seen.end - seen.begin; }

    // The sender's checksum would give it away.
    static void without_checksum(Seen &seen)
    {
        if (seen.checksum)
            seen.bytes[seen.checksum] = seen.bytes[seen.checksum + 1] = 0;
    }

    static std::optional<unet_frame> frame_of(Seen &seen)
    {
        unet_frame frame;

        if (length(seen) < sizeof frame)
            return {};
        std::memcpy(&frame, payload(seen), sizeof frame);
        return frame;
    }

    // Frames about a channel itself are left as they are: who changes one to say that it has ended
    // is believed.
    static bool has_message(Seen &seen)
    {
        const auto frame = frame_of(seen);

        return frame && (frame->kind == UNET_FRAME_INLINE || frame->kind == UNET_FRAME_PIECES);
    }

    void alter(Seen seen)
    {
        payload(seen)[random_() % length(seen)] ^= static_cast<uint8_t>(1 << random_() % 8);
        without_checksum(seen);
        pass(seen);
        deeds_.altered++;
    }

    // All behind the frame's header, or the packet's, is of its own making; both say what they did.
    void invent(Seen seen)
    {
        const size_t keep = random_() % 2 ? sizeof(unet_frame) : sizeof(unet_frame) + 40;

        for (size_t i = keep; i < length(seen); i++)
            payload(seen)[i] = static_cast<uint8_t>(random_());
        without_checksum(seen);
        pass(seen);
        deeds_.invented++;
    }

    // Says that the channel has ended to who was told that it is open.
    void end_channel(Seen seen)
    {
        auto frame = frame_of(seen);

        if (!frame || frame->kind != UNET_FRAME_OPENED)
            return;
        frame->kind = UNET_FRAME_CLOSE;
        std::memcpy(payload(seen), &*frame, sizeof *frame);
        without_checksum(seen);
        ends_.push_back(std::move(seen));
    }

    void lie(Seen seen)
    {
        if (lies_.end_channels)
            end_channel(seen);
        if (!seen_.empty() && chance(lies_.replay)) {
            pass(seen_[random_() % seen_.size()]);
            deeds_.replayed++;
        }
        if (has_message(seen) && chance(lies_.invent))
            invent(seen);
        if (chance(lies_.repeat)) {
            pass(seen);
            deeds_.repeated++;
        }
        if (chance(lies_.drop)) {
            deeds_.dropped++;
        } else if (has_message(seen) && chance(lies_.alter)) {
            alter(seen);
        } else {
            pass(seen);
            deeds_.passed++;
        }
        remember(std::move(seen));
        if (deeds_.passed > 500 && !ends_.empty()) {
            pass(ends_.front());
            ends_.pop_front();
            deeds_.ended++;
        }
    }

    // The first are kept for good: of what they began nothing is left.
    void remember(Seen seen)
    {
        if (seen_.size() < REMEMBERED)
            seen_.push_back(std::move(seen));
        else
            seen_[REMEMBERED / 4 + random_() % (REMEMBERED * 3 / 4)] = std::move(seen);
    }

    const Lies lies_;
    std::minstd_rand random_;
    Deeds &deeds_;
    int wire_[2];
    std::vector<Seen> seen_;
    std::deque<Seen> ends_;
};

Deeds *shared_deeds()
{
    void *page =
        mmap(nullptr, sizeof(Deeds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED)
        fail("mmap");
    return new (page) Deeds{};
}

void unplug_from_bridge(const Hosts &hosts, int host)
{
    const std::string command = "nsenter -n -t " + std::to_string(hosts.between()) +
                                " ip link set host" + std::to_string(host) + " nomaster";

    if (std::system(command.c_str()) != 0)
        throw std::runtime_error("failed: " + command);
}

} // namespace

Liar::Liar(const Hosts &hosts, const Lies &lies, unsigned seed) : deeds_(shared_deeds())
{
    for (const int host : {1, 2}) {
        const pid_t sshd = hosts.sshd(host);
        as_user(0, [&] {
            enter_network_of(sshd);
            leave_nothing_to_the_wire("eth0");
            return Lines{};
        });
        unplug_from_bridge(hosts, host);
    }
    const pid_t between = hosts.between();
    process_ = std::make_unique<Companion>(0, [=, this] {
        enter_network_of(between);
        Middle(lies, seed, *deeds_).serve();
    });
}

Liar::~Liar()
{
    process_.reset();
    munmap(deeds_, sizeof *deeds_);
}
