// SPDX-License-Identifier: BSD-3-Clause
#include "raw.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

long ioctl_of(int fd, unsigned long command, unsigned long argument)
{
    const int result = ioctl(fd, command, argument);

    return result < 0 ? -errno : result;
}

long ioctl_of(int fd, unsigned long command, void *argument)
{
    return ioctl_of(fd, command, reinterpret_cast<unsigned long>(argument));
}

int File::release()
{
    const int number = fd;

    fd = -1;
    return number;
}

void File::close()
{
    if (fd >= 0)
        ::close(fd);
    fd = -1;
}

File open_device()
{
    const int fd = open(UNET_FE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);

    INFO("errno " << errno);
    REQUIRE(fd >= 0);
    return File(fd);
}

unet_fe_create small()
{
    unet_fe_create wanted = {};

    wanted.version = UNET_FE_VERSION;
    wanted.segment_bytes = 65536;
    wanted.send_slots = 16;
    wanted.recv_slots = 16;
    wanted.free_slots = 16;
    wanted.channels = 8;
    std::strcpy(wanted.interface, "lo");
    return wanted;
}

Raw::Raw(const unet_fe_create &wanted)
    : fd(open_device()), layout(wanted), taken(wanted.channels + 1)
{
    REQUIRE(ioctl_of(fd, UNET_FE_CREATE, &layout) == 0);
    void *at = mmap(nullptr, layout.area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REQUIRE(at != MAP_FAILED);
    area = static_cast<uint8_t *>(at);
}

void Raw::end()
{
    if (area)
        munmap(area, layout.area_bytes);
    area = nullptr;
    fd.close();
}

void Raw::push(const unet_desc &desc)
{
    unet_desc *slot = &ring(layout.send)->slot[sent & (layout.send_slots - 1)];

    std::memcpy(&slot->channel, &desc.channel, sizeof(desc) - offsetof(unet_desc, channel));
    __atomic_store_n(&slot->turn, ++sent, __ATOMIC_RELEASE);
}

void Raw::give(uint32_t offset, uint32_t length)
{
    unet_desc *slot = &ring(layout.free)->slot[given & (layout.free_slots - 1)];

    slot->word[0] = static_cast<uint64_t>(length) << 32 | offset;
    __atomic_store_n(&slot->turn, ++given, __ATOMIC_RELEASE);
}

static unet_desc take(unet_ring_shared *ring, uint32_t slots, uint32_t &position)
{
    const unet_desc *slot = &ring->slot[position & (slots - 1)];
    unet_desc copy = {};

    if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != position + 1)
        return copy;
    copy = *slot;
    __atomic_store_n(&ring->consumed, ++position, __ATOMIC_RELEASE);
    return copy;
}

uint32_t Raw::error()
{
    const unet_desc desc = take(ring(layout.errors), layout.send_slots, errors);

    return desc.kind == UNET_ERROR ? desc.error : 0;
}

unet_desc Raw::next(uint32_t channel)
{
    return take(in(channel), layout.recv_slots, taken[channel]);
}

long Raw::connect(unet_fe_connect request)
{
    const long result = ioctl_of(fd, UNET_FE_CONNECT, &request);

    return result < 0 ? result : request.channel;
}

unet_fe_connect request_for(const Raw &to, uint64_t number, uint32_t life)
{
    unet_fe_connect request = {};

    std::memcpy(request.mac, to.layout.mac, sizeof(request.mac));
    request.port = to.layout.port;
    request.key_in = request.key_out = number;
    request.life = life;
    return request;
}

static bool is_open(const Raw &ep)
{
    return __atomic_load_n(&ep.shared()->state[1], __ATOMIC_ACQUIRE) == 2;
}

RawPair::RawPair(const unet_fe_create &wanted)
    : a(wanted), b(wanted), to_b(request_for(b, 0x1234, 11)), to_a(request_for(a, 0x1234, 12))
{
    REQUIRE(a.connect(to_b) == 1);
    REQUIRE(b.connect(to_a) == 1);
    open_both(a, b);
}

void open_both(Raw &a, Raw &b)
{
    for (int i = 0; i < 1000 && !(is_open(a) && is_open(b)); i++) {
        CHECK(ioctl_of(a.fd, UNET_FE_TELL, 1ul) == 0);
        CHECK(ioctl_of(b.fd, UNET_FE_TELL, 1ul) == 0);
    }
    REQUIRE(is_open(a));
    REQUIRE(is_open(b));
}

unet_desc inline_desc(uint16_t channel, const std::string &text)
{
    unet_desc desc = {};

    desc.channel = channel;
    desc.kind = UNET_INLINE;
    desc.length = static_cast<uint32_t>(text.size());
    std::memcpy(desc.data, text.data(), text.size());
    return desc;
}

unet_desc pieces_desc(uint16_t channel, std::vector<unet_piece> pieces)
{
    unet_desc desc = {};

    desc.channel = channel;
    desc.kind = UNET_PIECES;
    desc.pieces = static_cast<uint8_t>(pieces.size());
    for (size_t i = 0; i < pieces.size() && i < UNET_PIECES_MAX; i++) {
        desc.piece[i] = pieces[i];
        desc.length += pieces[i].length;
    }
    return desc;
}

uint64_t wait_for(const Raw &ep, unet_fe_counter which, uint64_t value)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);

    while (ep.counter(which) < value && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    return ep.counter(which);
}

std::string text_of(const std::string &path)
{
    std::ifstream file(path);
    std::string line;

    std::getline(file, line);
    return line;
}

int as_nobody(bool may_open, const std::function<int()> &attack)
{
    int status = 0;

    REQUIRE(chmod(UNET_FE_DEVICE, may_open ? 0666 : 0600) == 0);
    const pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(255);
        try {
            _exit(-attack());
        } catch (...) { // of a REQUIRE
            _exit(254);
        }
    }
    waitpid(child, &status, 0);
    chmod(UNET_FE_DEVICE, 0600);
    REQUIRE(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

void set_parameter(const char *name, const char *value)
{
    const std::string path = std::string("/sys/module/unet_fe/parameters/") + name;
    File file(open(path.c_str(), O_WRONLY));

    REQUIRE(write(file, value, std::strlen(value)) == static_cast<ssize_t>(std::strlen(value)));
}
