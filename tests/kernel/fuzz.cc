// SPDX-License-Identifier: BSD-3-Clause
//
// kernel_fuzz SECONDS SEED [INTERFACE]: random calls, mappings and memory, from several processes
// that can hear each other.  What the kernel says to it does not matter; that it goes on does.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <random>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unet/unet_fe.h>
#include <unet/unet_ring.h>
#include <unistd.h>

namespace {

constexpr unsigned kWorkers = 4, kEndpoints = 3, kPorts = 16, kGroundBytes = 64 * 4096;

struct Grant {
    std::atomic<uint64_t> key, place;
};

// What the workers share.
struct Board {
    std::atomic<uint64_t> calls, refused;
    std::atomic<uint32_t> port[kPorts];
    Grant grant[kPorts];
};

class Worker {
public:
    Worker(Board &shared, uint32_t seed, const char *where)
        : board(shared), random(seed), interface(where)
    {
        lay_ground();
    }

    void step();

private:
    struct Endpoint {
        int fd = -1;
        uint8_t *area = nullptr;
        unet_fe_create layout = {};
        uint32_t sent = 0, given = 0;
    };

    uint32_t below(uint32_t n) { return random() % n; }
    uint32_t odd_number();
    void call(int fd, unsigned long number, unsigned long argument);
    void begin(Endpoint &ep);
    void end(Endpoint &ep);
    void connect(Endpoint &ep);
    void push(Endpoint &ep);
    void put(Endpoint &ep);
    void ranges(Endpoint &ep);
    void lay_ground();
    void give(Endpoint &ep);
    void drain(Endpoint &ep);
    void scribble(Endpoint &ep);
    void remap(Endpoint &ep);
    void in_a_child(Endpoint &ep);
    void wild_call(Endpoint &ep);
    void rest(Endpoint &ep);
    unet_ring_shared *ring(Endpoint &ep, uint64_t at)
    {
        return reinterpret_cast<unet_ring_shared *>(ep.area + at);
    }

    Board &board;
    std::mt19937 random;
    const char *interface;
    Endpoint endpoints[kEndpoints];
    uint8_t *ground = nullptr; // for ranges
};

// Numbers that are likely to be on some edge.
uint32_t Worker::odd_number()
{
    static const uint32_t edges[] = {0,     1,      2,        48,         49,        100,
                                     4095,  4096,   65535,    65536,      65537,     1476,
                                     16384, 131072, 1u << 31, UINT32_MAX, 0xfffff000};

    switch (below(3)) {
    case 0:
        return edges[below(sizeof(edges) / sizeof(*edges))];
    case 1:
        return below(2000);
    default:
        return random();
    }
}

void Worker::call(int fd, unsigned long number, unsigned long argument)
{
    board.calls++;
    board.refused += ioctl(fd, number, argument) < 0;
}

void Worker::begin(Endpoint &ep)
{
    unet_fe_create &c = ep.layout;

    ep = Endpoint();
    ep.fd = open(UNET_FE_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    c.version = UNET_FE_VERSION;
    c.segment_bytes = 65536;
    c.send_slots = c.recv_slots = c.free_slots = 4u << below(4);
    c.channels = 1 + below(8);
    std::strcpy(c.interface, interface);
    if (below(8) == 0)
        reinterpret_cast<uint32_t *>(&c)[below(12)] = odd_number();
    call(ep.fd, UNET_FE_CREATE, reinterpret_cast<unsigned long>(&c));
    void *at = mmap(nullptr, c.area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ep.fd, 0);
    if (at == MAP_FAILED) {
        close(ep.fd);
        ep.fd = -1;
        return;
    }
    ep.area = static_cast<uint8_t *>(at);
    board.port[below(kPorts)] = c.port;
}

void Worker::end(Endpoint &ep)
{
    munmap(ep.area, ep.layout.area_bytes);
    close(ep.fd);
    ep = Endpoint();
}

void Worker::connect(Endpoint &ep)
{
    unet_fe_connect request = {};

    std::memcpy(request.mac, ep.layout.mac, sizeof(request.mac));
    request.port = static_cast<uint16_t>(board.port[below(kPorts)]);
    request.key_in = request.key_out = below(4);
    request.life = 1 + below(3);
    if (below(8) == 0)
        reinterpret_cast<uint8_t *>(&request)[below(sizeof(request))] =
            static_cast<uint8_t>(random());
    call(ep.fd, UNET_FE_CONNECT, reinterpret_cast<unsigned long>(&request));
    call(ep.fd, UNET_FE_TELL, request.channel);
}

void Worker::push(Endpoint &ep)
{
    unet_desc &slot = ring(ep, ep.layout.send)->slot[ep.sent & (ep.layout.send_slots - 1)];

    slot.channel = static_cast<uint16_t>(1 + below(ep.layout.channels));
    slot.kind = static_cast<uint8_t>(1 + below(2));
    slot.pieces = static_cast<uint8_t>(1 + below(4));
    slot.length = 0;
    for (unsigned i = 0; i < slot.pieces; i++) {
        slot.piece[i] = {below(60000), below(400)};
        slot.length += slot.piece[i].length;
    }
    if (slot.kind == UNET_INLINE)
        slot.length = below(UNET_INLINE_MAX + 1);
    if (below(4) == 0)
        reinterpret_cast<uint32_t *>(&slot)[1 + below(15)] = odd_number();
    __atomic_store_n(&slot.turn, ++ep.sent, __ATOMIC_RELEASE);
    call(ep.fd, UNET_FE_SEND, 0);
}

// Between places that may be good.
void Worker::put(Endpoint &ep)
{
    const Grant &grant = board.grant[below(kPorts)];
    unet_desc &slot = ring(ep, ep.layout.send)->slot[ep.sent & (ep.layout.send_slots - 1)];

    slot.channel = static_cast<uint16_t>(1 + below(ep.layout.channels));
    slot.kind = UNET_DIRECT;
    slot.pieces = 0;
    slot.length = 1 + below(3000);
    slot.local = UNET_PLACE(1 + below(3), below(kGroundBytes));
    slot.grant = grant.key;
    slot.remote = grant.place + below(5000);
    if (below(4) == 0)
        reinterpret_cast<uint32_t *>(&slot)[1 + below(15)] = odd_number();
    __atomic_store_n(&slot.turn, ++ep.sent, __ATOMIC_RELEASE);
    call(ep.fd, UNET_FE_SEND, 0);
}

// Of the ground, which comes and goes.
void Worker::ranges(Endpoint &ep)
{
    const uint64_t page = below(kGroundBytes / 4096);
    unet_fe_export range = {reinterpret_cast<uint64_t>(ground) + 4096 * page,
                            4096 * (1 + below(32)), 0, 0};
    unet_fe_pin pin = {1 + below(3), 1 + below(16), below(16)};
    unet_fe_grant grant = {1 + below(ep.layout.channels), 0,
                           UNET_PLACE(1 + below(3), 4096 * below(4) + below(100)), 1 + below(20000),
                           0};
    Grant &known = board.grant[below(kPorts)];
    uint64_t key = known.key;

    if (below(8) == 0)
        reinterpret_cast<uint32_t *>(&pin)[below(4)] = odd_number();
    if (below(8) == 0)
        reinterpret_cast<uint32_t *>(&range)[below(4)] = odd_number();
    if (below(8) == 0)
        reinterpret_cast<uint32_t *>(&grant)[below(6)] = odd_number();
    switch (below(9)) {
    case 0:
        return call(ep.fd, UNET_FE_EXPORT, reinterpret_cast<unsigned long>(&range));
    case 1:
        return call(ep.fd, UNET_FE_UNEXPORT, below(4));
    case 2:
    case 3:
        return call(ep.fd, UNET_FE_PIN, reinterpret_cast<unsigned long>(&pin));
    case 4:
        return call(ep.fd, UNET_FE_UNPIN, reinterpret_cast<unsigned long>(&pin));
    case 5:
    case 6:
        call(ep.fd, UNET_FE_GRANT, reinterpret_cast<unsigned long>(&grant));
        known.key = grant.key;
        known.place = grant.place;
        return;
    case 7:
        return call(ep.fd, UNET_FE_REVOKE, reinterpret_cast<unsigned long>(&key));
    default:
        lay_ground();
    }
}

// Memory anew where there was some before.
void Worker::lay_ground()
{
    const int fixed = ground ? MAP_FIXED : 0;
    void *at = mmap(ground, kGroundBytes, below(8) ? PROT_READ | PROT_WRITE : PROT_READ,
                    (below(2) ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS | fixed, -1, 0);

    if (at != MAP_FAILED)
        ground = static_cast<uint8_t *>(at);
}

void Worker::give(Endpoint &ep)
{
    unet_desc &slot = ring(ep, ep.layout.free)->slot[ep.given & (ep.layout.free_slots - 1)];
    const bool good = below(4) != 0;

    slot.piece[0] = {good ? below(60000) : odd_number(), good ? 1 + below(4096) : odd_number()};
    __atomic_store_n(&slot.turn, ++ep.given, __ATOMIC_RELEASE);
}

// Take everything without looking, or lie about having taken it.
void Worker::drain(Endpoint &ep)
{
    const uint32_t channel = below(ep.layout.channels);
    unet_ring_shared *in = ring(ep, ep.layout.receive + channel * ep.layout.receive_stride);

    in->consumed += below(8) ? ep.layout.recv_slots / 2 : odd_number();
}

void Worker::scribble(Endpoint &ep)
{
    const size_t bytes = ep.layout.area_bytes;
    const size_t at = random() % (bytes - 64);

    if (below(4))
        *reinterpret_cast<uint32_t *>(ep.area + at / 4 * 4) = odd_number();
    else
        std::memset(ep.area + at, static_cast<int>(random()), 1 + below(64));
}

void Worker::remap(Endpoint &ep)
{
    const size_t bytes = 4096ul * (1 + below(64));
    const off_t offset = 4096ll * below(64);
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, below(4) ? MAP_SHARED : MAP_PRIVATE,
                    ep.fd, offset);

    board.calls++;
    if (at == MAP_FAILED)
        return;
    *static_cast<volatile uint8_t *>(at) = 1;
    madvise(at, bytes, static_cast<int>(below(20)));
    mprotect(at, bytes, static_cast<int>(below(8)));
    munmap(at, bytes);
}

void Worker::in_a_child(Endpoint &ep)
{
    const pid_t child = fork();

    if (child == 0) {
        for (int i = 0; i < 8; i++)
            push(ep);
        if (below(2))
            raise(SIGKILL);
        _exit(0);
    }
    waitpid(child, nullptr, 0);
}

void Worker::wild_call(Endpoint &ep)
{
    const unsigned long argument =
        below(2) ? odd_number() : reinterpret_cast<unsigned long>(ep.area) + below(8192);

    call(ep.fd, _IOC(below(4), UNET_FE_IOC, below(12), below(128)), argument);
    call(ep.fd, below(2) ? UNET_FE_CREATE : UNET_FE_CONNECT, argument);
    call(ep.fd, below(2) ? UNET_FE_DISCONNECT : UNET_FE_TELL, below(2) ? argument : below(9));
}

void Worker::rest(Endpoint &ep)
{
    pollfd bell = {ep.fd, POLLIN, 0};
    char bytes[16];

    board.calls += 3;
    if (write(ep.fd, bytes, below(16)) < 0 || poll(&bell, 1, 0) < 0 ||
        read(ep.fd, bytes, below(16)) < 0)
        board.refused++;
    close(dup(ep.fd));
}

void Worker::step()
{
    using Deed = void (Worker::*)(Endpoint &);
    static const Deed deeds[] = {
        &Worker::connect, &Worker::push,     &Worker::push,      &Worker::push,
        &Worker::push,    &Worker::give,     &Worker::give,      &Worker::drain,
        &Worker::drain,   &Worker::scribble, &Worker::wild_call, &Worker::rest,
        &Worker::put,     &Worker::put,      &Worker::ranges,    &Worker::ranges};
    Endpoint &ep = endpoints[below(kEndpoints)];
    const uint32_t choice = below(1000);

    if (ep.fd < 0)
        begin(ep);
    else if (choice < 4)
        end(ep);
    else if (choice < 8)
        remap(ep);
    else if (choice < 9)
        in_a_child(ep);
    else
        (this->*deeds[choice % (sizeof(deeds) / sizeof(*deeds))])(ep);
}

// An endpoint, so that the interface's counters stay.
int hold(const char *interface)
{
    unet_fe_create c = {};
    const int fd = open(UNET_FE_DEVICE, O_RDWR | O_CLOEXEC);

    c.version = UNET_FE_VERSION;
    c.segment_bytes = 4096;
    c.send_slots = c.recv_slots = c.free_slots = 4;
    c.channels = 1;
    std::strncpy(c.interface, interface, sizeof(c.interface) - 1);
    if (ioctl(fd, UNET_FE_CREATE, &c) < 0)
        std::perror("kernel_fuzz: " UNET_FE_DEVICE);
    return fd;
}

std::string total(const char *interface, const char *counter)
{
    std::ifstream file(std::string("/sys/class/misc/unet/interfaces/") + interface + "/" + counter);
    std::string value;

    std::getline(file, value);
    return value;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: kernel_fuzz SECONDS SEED [INTERFACE]\n");
        return 2;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
    const char *interface = argc > 3 ? argv[3] : "lo";
    void *page =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Board &board = *new (page) Board{};

    for (unsigned i = 0; i < kWorkers; i++) {
        if (fork() != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        Worker worker(board, static_cast<uint32_t>(std::atoi(argv[2])) * kWorkers + i, interface);
        while (std::chrono::steady_clock::now() < end)
            worker.step();
        _exit(0);
    }
    const int holder = hold(interface);
    int failed = 0, status;
    while (wait(&status) > 0)
        failed += status != 0;
    std::printf("fuzz: %llu calls, %llu refused, %s messages sent, %s received, seed %s\n",
                static_cast<unsigned long long>(board.calls),
                static_cast<unsigned long long>(board.refused), total(interface, "sent").c_str(),
                total(interface, "received").c_str(), argv[2]);
    close(holder);
    return failed ? 1 : 0;
}
