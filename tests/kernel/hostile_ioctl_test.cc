// SPDX-License-Identifier: BSD-3-Clause
//
// Attacks by system calls: each with the refusal that it has to meet.
#include "raw.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- creation -----------------------------------------------------------------

static long create(const std::function<void(unet_fe_create &)> &change)
{
    File fd = open_device();
    unet_fe_create wanted = small();

    change(wanted);
    return ioctl_of(fd, UNET_FE_CREATE, &wanted);
}

TEST_CASE("create: another version")
{
    CHECK(create([](auto &c) { c.version = 0; }) == -EPROTO);
    CHECK(create([](auto &c) { c.version = UNET_FE_VERSION + 1; }) == -EPROTO);
}

TEST_CASE("create: the interface's name has no end")
{
    CHECK(create([](auto &c) { std::memset(c.interface, 'x', sizeof(c.interface)); }) == -EINVAL);
}

TEST_CASE("create: an interface that is not there")
{
    CHECK(create([](auto &c) { std::strcpy(c.interface, "nowhere"); }) == -ENODEV);
    CHECK(create([](auto &c) { c.interface[0] = 0; }) == -ENODEV);
    CHECK(create([](auto &c) { std::strcpy(c.interface, "../lo"); }) == -ENODEV);
}

TEST_CASE("create: no segment")
{
    CHECK(create([](auto &c) { c.segment_bytes = 0; }) == -EINVAL);
}

TEST_CASE("create: a segment that ends within a page")
{
    CHECK(create([](auto &c) { c.segment_bytes = 4097; }) == -EINVAL);
    CHECK(create([](auto &c) { c.segment_bytes = UINT32_MAX; }) == -EINVAL);
}

TEST_CASE("create: a segment of 4 GiB")
{
    CHECK(create([](auto &c) { c.segment_bytes = 0xfffff000; }) == -EDQUOT);
}

TEST_CASE("create: slots that are no power of two, or too few, or too many")
{
    const uint32_t slots = GENERATE(0u, 1u, 2u, 3u, 5u, 24u, 131072u, 0x80000000u, UINT32_MAX);

    INFO(slots);
    CHECK(create([=](auto &c) { c.send_slots = slots; }) == -EINVAL);
    CHECK(create([=](auto &c) { c.recv_slots = slots; }) == -EINVAL);
    CHECK(create([=](auto &c) { c.free_slots = slots; }) == -EINVAL);
}

TEST_CASE("create: no channel, or more than there are numbers")
{
    CHECK(create([](auto &c) { c.channels = 0; }) == -EINVAL);
    CHECK(create([](auto &c) { c.channels = 65536; }) == -EINVAL);
    CHECK(create([](auto &c) { c.channels = UINT32_MAX; }) == -EINVAL);
}

TEST_CASE("create: sizes whose product overflows")
{
    CHECK(create([](auto &c) {
              c.channels = 65535;
              c.recv_slots = 65536;
          }) == -EDQUOT);
}

TEST_CASE("create: an address that is none")
{
    File fd = open_device();

    CHECK(ioctl_of(fd, UNET_FE_CREATE, 0ul) == -EFAULT);
    CHECK(ioctl_of(fd, UNET_FE_CREATE, 0xffff888000000000ul) == -EFAULT);
    CHECK(ioctl_of(fd, UNET_FE_CREATE, ~0ul) == -EFAULT);
}

TEST_CASE("create: an answer that cannot be written")
{
    File fd = open_device();
    void *page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(page != MAP_FAILED);
    *static_cast<unet_fe_create *>(page) = small();
    REQUIRE(mprotect(page, 4096, PROT_READ) == 0);
    CHECK(ioctl_of(fd, UNET_FE_CREATE, page) == -EFAULT);
    munmap(page, 4096);
}

TEST_CASE("create: twice")
{
    Raw ep;
    unet_fe_create again = small();

    CHECK(ioctl_of(ep.fd, UNET_FE_CREATE, &again) == -EBUSY);
}

TEST_CASE("create: another attempt after one that failed")
{
    File fd = open_device();
    unet_fe_create bad = small(), good = small();

    bad.channels = 0;
    CHECK(ioctl_of(fd, UNET_FE_CREATE, &bad) == -EINVAL);
    CHECK(ioctl_of(fd, UNET_FE_CREATE, &good) == -EBUSY);
    CHECK(ioctl_of(fd, UNET_FE_SEND, 0ul) == -ENOTCONN);
}

TEST_CASE("create: somebody else's port")
{
    Raw ep;

    CHECK(create([&](auto &c) { c.port = ep.layout.port; }) == -EADDRINUSE);
}

TEST_CASE("create: a port of packet sockets")
{
    CHECK(create([](auto &c) { c.port = 32768; }) == -EADDRNOTAVAIL);
    CHECK(create([](auto &c) { c.port = 65535; }) == -EADDRNOTAVAIL);
}

// ---- calls out of order -----------------------------------------------------------

TEST_CASE("ioctl: everything before the creation")
{
    File fd = open_device();
    unet_fe_connect request = {};

    CHECK(ioctl_of(fd, UNET_FE_CONNECT, &request) == -ENOTCONN);
    CHECK(ioctl_of(fd, UNET_FE_DISCONNECT, 1ul) == -ENOTCONN);
    CHECK(ioctl_of(fd, UNET_FE_TELL, 1ul) == -ENOTCONN);
    CHECK(ioctl_of(fd, UNET_FE_SEND, 0ul) == -ENOTCONN);
}

TEST_CASE("ioctl: numbers that are none of ours")
{
    Raw ep;

    for (unsigned number : {0u, 6u, 11u, 255u})
        CHECK(ioctl_of(ep.fd, _IO(UNET_FE_IOC, number), 0ul) == -ENOTTY);
    CHECK(ioctl_of(ep.fd, _IO(UNET_FE_IOC + 1, 5), 0ul) == -ENOTTY);
    CHECK(ioctl_of(ep.fd, _IOW(UNET_FE_IOC, 2, char[64]), 0ul) == -ENOTTY);
    CHECK(ioctl_of(ep.fd, _IOWR(UNET_FE_IOC, 1, char[8]), 0ul) == -ENOTTY);
    CHECK(ioctl_of(ep.fd, 0xffffffff, 0ul) == -ENOTTY);
}

TEST_CASE("open: for reading or writing alone")
{
    CHECK(open(UNET_FE_DEVICE, O_RDONLY) == -1);
    CHECK(errno == EINVAL);
    CHECK(open(UNET_FE_DEVICE, O_WRONLY) == -1);
    CHECK(errno == EINVAL);
}

// ---- channels ------------------------------------------------------------------------

TEST_CASE("connect: port 0")
{
    Raw ep;
    unet_fe_connect request = request_for(ep, 1, 1);

    request.port = 0;
    CHECK(ep.connect(request) == -EADDRNOTAVAIL);
}

TEST_CASE("connect: everybody, or a group")
{
    Raw ep;
    unet_fe_connect request = request_for(ep, 1, 1);

    std::memset(request.mac, 0xff, sizeof(request.mac));
    CHECK(ep.connect(request) == -EADDRNOTAVAIL);
    std::memcpy(request.mac, "\x01\x00\x5e\x00\x00\x01", sizeof(request.mac));
    CHECK(ep.connect(request) == -EADDRNOTAVAIL);
}

TEST_CASE("connect: the life that means none")
{
    Raw ep;

    CHECK(ep.connect(request_for(ep, 1, 0)) == -EINVAL);
}

TEST_CASE("connect: the same channel twice")
{
    Raw ep;

    CHECK(ep.connect(request_for(ep, 1, 1)) == 1);
    CHECK(ep.connect(request_for(ep, 1, 2)) == -EEXIST);
    CHECK(ep.connect(request_for(ep, 2, 2)) == 2);
}

TEST_CASE("connect: more channels than the endpoint has")
{
    Raw ep;

    for (uint32_t n = 1; n <= ep.layout.channels; n++)
        CHECK(ep.connect(request_for(ep, n, 1)) == n);
    CHECK(ep.connect(request_for(ep, 99, 1)) == -ENOSPC);
}

TEST_CASE("connect: an address that is none")
{
    Raw ep;

    CHECK(ioctl_of(ep.fd, UNET_FE_CONNECT, 0ul) == -EFAULT);
    CHECK(ioctl_of(ep.fd, UNET_FE_CONNECT, 0xffff888000000000ul) == -EFAULT);
}

TEST_CASE("disconnect: wild numbers")
{
    Raw ep;

    for (unsigned long n : {0ul, 1ul, 8ul, 9ul, 65536ul, 0x100000001ul, ~0ul})
        CHECK(ioctl_of(ep.fd, UNET_FE_DISCONNECT, n) == -EINVAL);
}

TEST_CASE("disconnect: twice")
{
    Raw ep;

    REQUIRE(ep.connect(request_for(ep, 1, 1)) == 1);
    CHECK(ioctl_of(ep.fd, UNET_FE_DISCONNECT, 1ul) == 0);
    CHECK(ioctl_of(ep.fd, UNET_FE_DISCONNECT, 1ul) == -EINVAL);
}

TEST_CASE("tell: wild numbers")
{
    Raw ep;

    for (unsigned long n : {0ul, 9ul, 65536ul, 0x100000001ul, ~0ul})
        CHECK(ioctl_of(ep.fd, UNET_FE_TELL, n) == -EINVAL);
    CHECK(ioctl_of(ep.fd, UNET_FE_TELL, 1ul) == -ENOTCONN);
}

// ---- what others may not --------------------------------------------------------------

static int create_quietly(const unet_fe_create &wanted)
{
    const int fd = open(UNET_FE_DEVICE, O_RDWR);
    unet_fe_create copy = wanted;

    // It stays open: the process is going to end.
    return fd < 0 ? -errno : static_cast<int>(ioctl_of(fd, UNET_FE_CREATE, &copy));
}

TEST_CASE("others: open the device")
{
    CHECK(as_nobody(false, [] { return create_quietly(small()); }) == -EACCES);
    CHECK(as_nobody(true, [] { return create_quietly(small()); }) == 0);
}

TEST_CASE("others: a port below those for everybody")
{
    unet_fe_create wanted = small();

    wanted.port = 1023;
    CHECK(as_nobody(true, [&] { return create_quietly(wanted); }) == -EACCES);
    wanted.port = 1;
    CHECK(as_nobody(true, [&] { return create_quietly(wanted); }) == -EACCES);
    CHECK(create([](auto &c) { c.port = 1; }) == 0);
}

TEST_CASE("others: more locked memory than they may have")
{
    CHECK(as_nobody(true, [] {
              const rlimit none = {8192, 8192};

              setrlimit(RLIMIT_MEMLOCK, &none);
              return create_quietly(small());
          }) == -ENOBUFS);
}

TEST_CASE("others: locked memory bit by bit")
{
    CHECK(as_nobody(true, [] {
              const rlimit some = {1 << 20, 1 << 20};
              int result = 0;

              setrlimit(RLIMIT_MEMLOCK, &some);
              for (int i = 0; i < 100 && result == 0; i++)
                  result = create_quietly(small());
              return result;
          }) == -ENOBUFS);
}

TEST_CASE("others: more endpoints than one user may have")
{
    set_parameter("max_endpoints", "3");
    CHECK(as_nobody(true, [] {
              int result = 0;

              for (int i = 0; i < 3 && result == 0; i++)
                  result = create_quietly(small());
              return result ? -1 : create_quietly(small());
          }) == -EDQUOT);
    set_parameter("max_endpoints", "256");
}

TEST_CASE("others: more channels than one user may have")
{
    set_parameter("max_channels", "2");
    CHECK(as_nobody(true, [] {
              Raw ep;
              long result = 0;

              for (uint32_t n = 1; n <= 3 && result >= 0; n++)
                  result = ep.connect(request_for(ep, n, 1));
              return static_cast<int>(result);
          }) == -EDQUOT);
    set_parameter("max_channels", "65535");
}

TEST_CASE("others: change the limits")
{
    CHECK(as_nobody(true, [] {
              return open("/sys/module/unet_fe/parameters/max_endpoints", O_WRONLY) < 0 ? -errno
                                                                                        : 0;
          }) == -EACCES);
}
