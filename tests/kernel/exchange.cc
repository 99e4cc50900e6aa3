// SPDX-License-Identifier: BSD-3-Clause
//
// kernel_exchange a|b MESSAGES BACKEND: two machines, 10.0.0.1 (a) and 10.0.0.2, exchange messages
// of every length a frame can carry, over the module or, as BACKEND says, another that speaks its
// frames.  b sends everything back, and a looks at every byte that returns.  What a slow machine
// has no room for is lost, and sent again.
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <netinet/in.h>
#include <random>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unet/unet.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr uint32_t kWindow = 16, kBuffer = 2048, kReceiveAt = 256 * 1024;
constexpr uint64_t kTag = 0x5eed;

[[noreturn]] void fail(const std::string &what)
{
    std::printf("exchange: %s\n", what.c_str());
    std::exit(1);
}

void check(bool good, const char *what)
{
    if (!good)
        fail(std::string(what) + ": " + std::strerror(errno));
}

// ---- finding each other: addresses go over TCP ------------------------------------

int listen_for_peer()
{
    const int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    sockaddr_in own = {};

    own.sin_family = AF_INET;
    own.sin_port = htons(7000);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    check(bind(listener, reinterpret_cast<sockaddr *>(&own), sizeof(own)) == 0, "bind");
    check(listen(listener, 1) == 0, "listen");
    const int peer = accept(listener, nullptr, nullptr);
    check(peer >= 0, "accept");
    close(listener);
    return peer;
}

int connect_to_peer()
{
    sockaddr_in peer = {};

    peer.sin_family = AF_INET;
    peer.sin_port = htons(7000);
    inet_pton(AF_INET, "10.0.0.1", &peer.sin_addr);
    for (int tries = 0; tries < 600; tries++) {
        const int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (connect(fd, reinterpret_cast<sockaddr *>(&peer), sizeof(peer)) == 0)
            return fd;
        close(fd);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    fail("a does not listen");
}

// ---- endpoints ------------------------------------------------------------------------

struct Node {
    unet_endpoint *ep = nullptr;
    uint16_t channel = 0;
    int peer = -1;
};

// An endpoint of the module on the same interface, which must not mind those of others.
void open_bystander()
{
    unet_endpoint *ep;

    if (int error = unet_open(unet_backend("fe"), nullptr, &ep))
        fail(std::string("cannot open an endpoint: ") + std::strerror(-error));
}

Node open_node(bool is_a, const char *backend)
{
    Node node;
    struct unet_address own, peer;

    if (int error = unet_open(unet_backend(backend), nullptr, &node.ep))
        fail(std::string("cannot open an endpoint: ") + std::strerror(-error));
    for (uint32_t i = 0; i < 2 * kWindow; i++)
        unet_free_put(node.ep, kReceiveAt + i * kBuffer, kBuffer);
    unet_address(node.ep, &own);
    node.peer = is_a ? listen_for_peer() : connect_to_peer();
    check(write(node.peer, &own, sizeof(own)) == sizeof(own), "write");
    check(recv(node.peer, &peer, sizeof(peer), MSG_WAITALL) == sizeof(peer), "recv");
    if (int error = unet_connect(node.ep, &peer, kTag, &node.channel))
        fail(std::string("cannot connect: ") + std::strerror(-error));
    for (int i = 0; i < 1000 && unet_channel_state(node.ep, node.channel) != UNET_OPEN; i++)
        unet_wait(node.ep, 10);
    return node;
}

// The bytes of message `i`: a number, and what depends on it.
std::vector<uint8_t> message(uint32_t i, uint32_t longest)
{
    std::mt19937 random(i);
    const uint32_t most = i % 3 ? longest : UNET_INLINE_MAX;
    std::vector<uint8_t> bytes(4 + (i <= longest - 4 ? i % (most - 3) : random() % (most - 3)));

    for (uint8_t &byte : bytes)
        byte = static_cast<uint8_t>(random());
    std::memcpy(bytes.data(), &i, sizeof(i));
    return bytes;
}

// The next message that is there, copied; empty when there is none within the time.
std::vector<uint8_t> receive(Node &node, int timeout_ms)
{
    const unet_desc *desc;
    std::vector<uint8_t> bytes;

    if (unet_wait(node.ep, timeout_ms) < 1 || !(desc = unet_rx_peek(node.ep)))
        return bytes;
    if (desc->kind == UNET_ERROR)
        fail("a send was refused: " + std::string(std::strerror(static_cast<int>(desc->error))));
    if (desc->kind == UNET_INLINE)
        bytes.assign(desc->data, desc->data + desc->length);
    for (unsigned i = 0; desc->kind == UNET_PIECES && i < desc->pieces; i++) {
        const uint8_t *at = node.ep->segment + desc->piece[i].offset;

        bytes.insert(bytes.end(), at, at + desc->piece[i].length);
        unet_free_put(node.ep, desc->piece[i].offset / kBuffer * kBuffer, kBuffer);
    }
    unet_rx_release(node.ep);
    return bytes;
}

// Slot i of the window has a place in the segment, in two pieces that lie across pages.
void send(Node &node, uint32_t slot, const std::vector<uint8_t> &bytes)
{
    const uint32_t at = slot * 8192 + 3000, length = static_cast<uint32_t>(bytes.size());
    const uint32_t half = length / 2;
    const unet_piece pieces[] = {{at, half}, {at + 3000, length - half}};
    uint32_t ticket = 0;
    int error;

    if (length <= UNET_INLINE_MAX) {
        while ((error = unet_send_inline(node.ep, node.channel, slot, bytes.data(), length)) ==
               -EAGAIN)
            unet_progress(node.ep);
    } else {
        std::memcpy(node.ep->segment + at, bytes.data(), half);
        std::memcpy(node.ep->segment + at + 3000, bytes.data() + half, length - half);
        while ((error = unet_send(node.ep, node.channel, slot, pieces, 2, &ticket)) == -EAGAIN)
            unet_progress(node.ep);
        while (error == 0 && !unet_sent(node.ep, ticket))
            unet_progress(node.ep);
    }
    if (error && error != -EPIPE)
        fail(std::string("cannot send: ") + std::strerror(-error));
}

// ---- counting ------------------------------------------------------------------------------

struct Counts {
    uint64_t sent, received;
};

// Of the interface, as the module shows them to everybody.
uint64_t counter(const char *name)
{
    std::ifstream file(std::string("/sys/class/misc/unet/interfaces/eth0/") + name);
    uint64_t value = 0;

    check(static_cast<bool>(file >> value), name);
    return value;
}

Counts count(const Node &node)
{
    const unet_stats &ours = node.ep->stats;
    Counts counts = {ours.sent, ours.received};

    if (std::string(node.ep->ops->name) == "fe") {
        counts.received = counter("received"); // also what nobody has read
        if (counter("sent") != ours.sent)
            fail("the module has sent " + std::to_string(counter("sent")) + " messages, we " +
                 std::to_string(ours.sent));
    }
    return counts;
}

// Nothing is made up on the way; and if nothing was sent again, nothing was lost.
void compare(const Counts &ours, const Counts &theirs, uint32_t messages, uint32_t again)
{
    const auto agree = [&](uint64_t sent, uint64_t came) {
        return came <= sent && (again > 0 || came == sent) && came >= messages;
    };

    std::printf("exchange: sent %llu, %llu came; sent back %llu, %llu came\n",
                static_cast<unsigned long long>(ours.sent),
                static_cast<unsigned long long>(theirs.received),
                static_cast<unsigned long long>(theirs.sent),
                static_cast<unsigned long long>(ours.received));
    if (!agree(ours.sent, theirs.received) || !agree(theirs.sent, ours.received))
        fail("what the two machines count does not agree");
}

// ---- the two sides ------------------------------------------------------------------------

// Sends back what comes, until the peer is gone.
void echo(Node &node)
{
    uint32_t sent_back = 0;

    while (unet_channel_state(node.ep, node.channel) != UNET_DEAD) {
        const std::vector<uint8_t> bytes = receive(node, 200);

        if (!bytes.empty())
            send(node, sent_back++ % kWindow, bytes);
    }
    std::printf("exchange: %u messages sent back\n", sent_back);
    const Counts ours = count(node);
    check(write(node.peer, &ours, sizeof(ours)) == sizeof(ours), "write");
}

void ask(Node &node, uint32_t messages)
{
    const uint32_t longest = node.ep->packet_bytes;
    std::deque<uint32_t> waiting; // numbers that have not come back
    uint32_t next = 0, back = 0, again = 0, stalls = 0;

    while (back < messages) {
        for (; next < messages && waiting.size() < kWindow; next++) {
            waiting.push_back(next);
            send(node, next % kWindow, message(next, longest));
        }
        const std::vector<uint8_t> bytes = receive(node, 200);
        if (bytes.empty()) {
            if (++stalls > 50)
                fail("nothing comes back");
            for (uint32_t i : waiting)
                send(node, i % kWindow, message(i, longest));
            again += static_cast<uint32_t>(waiting.size());
            continue;
        }
        stalls = 0;
        uint32_t number = 0;
        std::memcpy(&number, bytes.data(), sizeof(number));
        if (number >= next || bytes != message(number, longest))
            fail("a message came back altered, number " + std::to_string(number));
        for (auto i = waiting.begin(); i != waiting.end(); ++i)
            if (*i == number) {
                waiting.erase(i);
                back++;
                break;
            }
    }
    std::printf("exchange: %u messages there and back, %u sent again, longest %u bytes\n", back,
                again, longest);
    unet_disconnect(node.ep, node.channel); // and the other side sees the end
    Counts theirs;
    check(recv(node.peer, &theirs, sizeof(theirs), MSG_WAITALL) == sizeof(theirs), "recv");
    compare(count(node), theirs, messages, again);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4 || !unet_backend(argv[3])) {
        std::fprintf(stderr, "usage: kernel_exchange a|b MESSAGES BACKEND\n");
        return 2;
    }
    const bool is_a = argv[1][0] == 'a';

    open_bystander();
    Node node = open_node(is_a, argv[3]);

    if (is_a)
        ask(node, static_cast<uint32_t>(std::atoi(argv[2])));
    else
        echo(node);
    unet_close(node.ep);
}
