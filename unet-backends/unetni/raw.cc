// SPDX-License-Identifier: BSD-3-Clause
#include "unetni/raw.h"

#include "conformance/harness.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

unet_fe_create small()
{
    unet_fe_create wish = {};

    wish.version = UNET_FE_VERSION;
    wish.segment_bytes = 16384;
    wish.send_slots = wish.recv_slots = wish.free_slots = 16;
    wish.channels = 4;
    return wish;
}

Raw::Raw(const std::string &path, std::function<void()> pump) : pump_(std::move(pump))
{
    sockaddr_un at = {};

    at.sun_family = AF_UNIX;
    std::strncpy(at.sun_path, path.c_str(), sizeof at.sun_path - 1);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    REQUIRE(fd >= 0);
    REQUIRE(::connect(fd, reinterpret_cast<sockaddr *>(&at), sizeof at) == 0);
}

Raw::~Raw()
{
    if (area)
        munmap(area, layout.area_bytes);
    for (int one : {fd, memory, bell[0], bell[1]})
        if (one >= 0)
            close(one);
}

bool Raw::wait(const std::function<bool()> &condition) const
{
    return eventually([&] {
        if (pump_)
            pump_();
        return condition();
    });
}

bool Raw::ended() const
{
    char byte;

    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

bool Raw::send(const void *bytes, size_t length) const
{
    return ::send(fd, bytes, length, MSG_NOSIGNAL) == static_cast<ssize_t>(length);
}

void Raw::tell(uint64_t channel) const
{
    unet_service_message message = {};

    message.command = UNET_FE_TELL;
    message.channel = channel;
    REQUIRE(send(&message, sizeof message));
}

int Raw::ask(unet_service_message &message)
{
    union {
        cmsghdr align;
        char bytes[CMSG_SPACE(UNET_SERVICE_FILES * sizeof(int))];
    } control;
    iovec iov = {&message, sizeof message};
    msghdr header = {};

    header.msg_iov = &iov;
    header.msg_iovlen = 1;
    header.msg_control = &control;
    header.msg_controllen = sizeof control;
    send(&message, sizeof message); // who is refused unasked cannot
    if (!wait([&] {
            pollfd one = {fd, POLLIN, 0};
            return poll(&one, 1, 0) == 1;
        }) ||
        recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) !=
            static_cast<ssize_t>(sizeof message))
        return -ENETDOWN;
    if (const cmsghdr *files = CMSG_FIRSTHDR(&header)) {
        int file[UNET_SERVICE_FILES];

        std::memcpy(file, CMSG_DATA(files), sizeof file);
        memory = file[0];
        bell[0] = file[1];
        bell[1] = file[2];
    }
    return message.result;
}

int Raw::ask(uint32_t command, uint64_t channel)
{
    unet_service_message message = {};

    message.command = command;
    message.channel = channel;
    return ask(message);
}

int Raw::connect(const unet_fe_connect &request)
{
    unet_service_message message = {};

    message.command = UNET_FE_CONNECT;
    message.connect = request;
    const int error = ask(message);
    return error ? error : static_cast<int>(message.connect.channel);
}

int Raw::create(const unet_fe_create &wish)
{
    unet_service_message message = {};

    message.command = UNET_FE_CREATE;
    message.create = wish;
    if (const int error = ask(message))
        return error;
    layout = message.create;
    taken_.assign(layout.channels + 1, 0);
    void *at = mmap(nullptr, layout.area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    REQUIRE(at != MAP_FAILED);
    area = static_cast<uint8_t *>(at);
    asleep_ = reinterpret_cast<uint32_t *>(area + message.asleep);
    return 0;
}

uint64_t Raw::counter(unet_fe_counter which) const
{
    return __atomic_load_n(&shared()->counter[which], __ATOMIC_RELAXED);
}

uint8_t Raw::state(uint32_t channel) const
{
    return __atomic_load_n(&shared()->state[channel], __ATOMIC_ACQUIRE);
}

static void fill_slot(unet_ring_shared *ring, uint32_t slots, uint32_t &position,
                      const unet_desc &desc)
{
    unet_desc *slot = &ring->slot[position & (slots - 1)];

    std::memcpy(reinterpret_cast<char *>(slot) + 4, reinterpret_cast<const char *>(&desc) + 4,
                sizeof desc - 4);
    __atomic_store_n(&slot->turn, ++position, __ATOMIC_RELEASE);
}

void Raw::push(const unet_desc &desc)
{
    unet_service_message message = {};

    message.command = UNET_FE_SEND;
    fill_slot(ring(layout.send), layout.send_slots, sent_, desc);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_exchange_n(asleep_, 0, __ATOMIC_RELAXED))
        REQUIRE(send(&message, sizeof message));
}

void Raw::give(uint32_t offset, uint32_t length)
{
    unet_desc desc = {};

    desc.word[0] = static_cast<uint64_t>(length) << 32 | offset;
    fill_slot(ring(layout.free), layout.free_slots, given_, desc);
}

uint32_t Raw::error()
{
    unet_ring_shared *errors = ring(layout.errors);
    const unet_desc *slot = &errors->slot[errors_ & (layout.send_slots - 1)];

    REQUIRE(wait([&] { return __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == errors_ + 1; }));
    const uint32_t error = slot->error;
    __atomic_store_n(&errors->consumed, ++errors_, __ATOMIC_RELEASE);
    return error;
}

std::string Raw::counters(uint32_t channel) const
{
    std::string text = "counters:";

    for (int which = 0; which < UNET_FE_COUNTERS; which++)
        text += " " + std::to_string(counter(static_cast<unet_fe_counter>(which)));
    text += ", state " + std::to_string(state(channel));
    return text;
}

unet_desc Raw::next(uint32_t channel)
{
    unet_ring_shared *from = in(channel);
    const unet_desc *slot = &from->slot[taken_[channel] & (layout.recv_slots - 1)];
    const auto is_there = [&] {
        return __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == taken_[channel] + 1;
    };

    if (!wait(is_there)) {
        const std::string before = counters(channel);

        tell(channel);
        const bool late = wait(is_there);
        FAIL("no message on channel " << channel << ": " << before << "; "
                                      << (late ? "it came" : "none came")
                                      << " after the service was woken: " << counters(channel));
    }
    const unet_desc desc = *slot;
    __atomic_store_n(&from->consumed, ++taken_[channel], __ATOMIC_RELEASE);
    return desc;
}

unet_desc inline_desc(uint16_t channel, const std::string &text)
{
    unet_desc desc = {};

    desc.channel = channel;
    desc.kind = UNET_INLINE;
    desc.length = static_cast<uint32_t>(text.size());
    std::memcpy(desc.data, text.data(), std::min<size_t>(text.size(), sizeof desc.data));
    return desc;
}

unet_desc pieces_desc(uint16_t channel, const std::vector<unet_piece> &pieces)
{
    unet_desc desc = {};

    desc.channel = channel;
    desc.kind = UNET_PIECES;
    for (const unet_piece &piece : pieces) {
        desc.piece[desc.pieces++] = piece;
        desc.length += piece.length;
    }
    return desc;
}

unet_fe_connect request_for(const unet_fe_create &to, uint64_t number, uint32_t life)
{
    unet_fe_connect request = {};

    std::memcpy(request.mac, to.mac, sizeof request.mac);
    request.port = to.port;
    request.key_in = 2 * number + (life & 1);
    request.key_out = 2 * number + !(life & 1);
    request.life = life;
    return request;
}

void open_both(Raw &a, Raw &b)
{
    REQUIRE(a.connect(request_for(b.layout, 100, 11)) == 1);
    REQUIRE(b.connect(request_for(a.layout, 100, 22)) == 1);
    REQUIRE(eventually([&] {
        a.tell(1);
        b.tell(1);
        return a.state(1) == UNET_OPEN && b.state(1) == UNET_OPEN;
    }));
}
