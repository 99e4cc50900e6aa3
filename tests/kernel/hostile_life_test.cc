// SPDX-License-Identifier: BSD-3-Clause
//
// Attacks by coming and going: processes, descriptors, interfaces, the module itself.
#include "raw.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

const std::string kFolder = "/sys/class/misc/unet/interfaces/";

void command(const std::string &line)
{
    INFO(line);
    REQUIRE(std::system(line.c_str()) == 0);
}

// An interface that is nobody's, gone at the end of its scope.
struct Dummy {
    Dummy() { command("ip link add dummy9 type dummy && ip link set dummy9 up"); }
    ~Dummy() { remove(); }
    void remove() { std::system("ip link del dummy9 2>/dev/null"); }
};

unet_fe_create on(const char *interface)
{
    unet_fe_create wanted = small();

    std::strcpy(wanted.interface, interface);
    return wanted;
}

bool flood(Raw &ep, int times)
{
    for (int i = 0; i < times; i++) {
        ep.push(inline_desc(1, "flood"));
        if (ep.trap() < 0)
            return false;
    }
    return true;
}

} // namespace

TEST_CASE("life: killed in the middle of traffic, again and again")
{
    for (int round = 0; round < 20; round++) {
        const pid_t child = fork();

        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            RawPair pair;

            for (;;)
                flood(pair.a, 100);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5 * (round % 7)));
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    CHECK_FALSE(std::filesystem::exists(kFolder + "lo"));
}

// Opens a channel to the endpoint and waits for it to be killed, having told its own port.
static void peer_of(const Raw &a, int tell)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Raw b;

    if (b.connect(request_for(a, 5, 7)) != 1 ||
        write(tell, &b.layout.port, sizeof(b.layout.port)) < 0)
        _exit(1);
    for (;;)
        ioctl_of(b.fd, UNET_FE_TELL, 1ul);
}

TEST_CASE("life: a peer that is killed is dead to the other side")
{
    Raw a;
    int pipes[2];

    REQUIRE(pipe(pipes) == 0);
    const pid_t child = fork();
    if (child == 0)
        peer_of(a, pipes[1]);
    unet_fe_connect request = request_for(a, 5, 8);
    REQUIRE(read(pipes[0], &request.port, sizeof(request.port)) == sizeof(request.port));
    REQUIRE(a.connect(request) == 1);
    for (int i = 0; i < 100000 && a.shared()->state[1] != 2; i++)
        ioctl_of(a.fd, UNET_FE_TELL, 1ul);
    CHECK(a.shared()->state[1] == 2);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    CHECK(a.shared()->state[1] == 3);
    close(pipes[0]);
    close(pipes[1]);
}

TEST_CASE("life: a descriptor in two processes, closed in one")
{
    RawPair pair;
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        pair.a.push(inline_desc(1, "by the child"));
        const long done = pair.a.trap();
        _exit(done == 1 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    CHECK(pair.b.shared()->state[1] == 2);
}

TEST_CASE("life: duplicated and closed under a thread that traps")
{
    for (int round = 0; round < 50; round++) {
        RawPair pair;
        const int other = dup(pair.a.fd);
        std::thread trapper([&] {
            for (int i = 0; i < 200; i++)
                ioctl_of(other, UNET_FE_SEND, 0ul);
            close(other);
        });
        for (int i = 0; i < 16; i++)
            pair.a.push(inline_desc(1, "x"));
        pair.a.fd.close();
        trapper.join();
    }
    CHECK_FALSE(std::filesystem::exists(kFolder + "lo"));
}

TEST_CASE("life: threads that do everything at once to one endpoint")
{
    RawPair pair;
    std::vector<std::thread> threads;

    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; i++) {
                unet_fe_connect request = request_for(pair.b, 100 + t, 5);

                ioctl_of(pair.a.fd, UNET_FE_SEND, 0ul);
                ioctl_of(pair.a.fd, UNET_FE_CONNECT, &request);
                ioctl_of(pair.a.fd, UNET_FE_TELL, request.channel + 0ul);
                if (request.channel > 1)
                    ioctl_of(pair.a.fd, UNET_FE_DISCONNECT, request.channel + 0ul);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    pair.a.push(inline_desc(1, "x"));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
}

TEST_CASE("life: created by two threads at once")
{
    for (int round = 0; round < 50; round++) {
        File fd = open_device();
        long result[2];
        unet_fe_create wanted[2] = {small(), small()};
        std::thread other([&] { result[1] = ioctl_of(fd, UNET_FE_CREATE, &wanted[1]); });

        result[0] = ioctl_of(fd, UNET_FE_CREATE, &wanted[0]);
        other.join();
        CHECK(result[0] + result[1] == -EBUSY);
    }
}

TEST_CASE("life: the module taken away while it is in use")
{
    Raw ep;

    CHECK(syscall(SYS_delete_module, "unet_fe", O_NONBLOCK) == -1);
    CHECK((errno == EWOULDBLOCK || errno == EBUSY));
    CHECK(ep.connect(request_for(ep, 1, 1)) == 1);
}

// ---- interfaces ------------------------------------------------------------------

TEST_CASE("interface: down while it is bound")
{
    Dummy dummy;
    RawPair pair(on("dummy9"));

    command("ip link set dummy9 down");
    pair.a.push(inline_desc(1, "x"));
    CHECK(pair.a.trap() == 1);
    CHECK(pair.a.counter(UNET_FE_LOST) == 1);
    command("ip link set dummy9 up");
    pair.a.push(inline_desc(1, "x"));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
}

TEST_CASE("interface: renamed while it is bound")
{
    Dummy dummy;
    RawPair pair(on("dummy9"));
    const std::string port = "/" + std::to_string(pair.a.layout.port);

    command("ip link set dummy9 down && ip link set dummy9 name dummy8 && ip link set dummy8 up");
    CHECK(std::filesystem::exists(kFolder + "dummy8" + port));
    CHECK_FALSE(std::filesystem::exists(kFolder + "dummy9"));
    pair.a.push(inline_desc(1, "x"));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    command("ip link set dummy8 down && ip link set dummy8 name dummy9");
}

TEST_CASE("interface: unregistered while it is bound")
{
    Dummy dummy;
    RawPair pair(on("dummy9"));

    dummy.remove();
    CHECK(pair.a.shared()->state[1] == 3);
    CHECK(pair.b.shared()->state[1] == 3);
    pair.a.push(inline_desc(1, "x"));
    CHECK(pair.a.trap() == 1);
    CHECK(pair.a.error() == EPIPE);
    CHECK(pair.a.connect(request_for(pair.b, 9, 9)) == -ENETDOWN);
    CHECK(ioctl_of(pair.a.fd, UNET_FE_TELL, 1ul) == -ENETDOWN);
    CHECK(ioctl_of(pair.a.fd, UNET_FE_DISCONNECT, 1ul) == 0);
    CHECK_FALSE(std::filesystem::exists(kFolder + "dummy9"));
}

TEST_CASE("interface: unregistered under threads that trap")
{
    for (int round = 0; round < 5; round++) {
        Dummy dummy;
        RawPair pair(on("dummy9"));
        std::thread trapper([&] { flood(pair.a, 3000); });

        dummy.remove();
        trapper.join();
        CHECK(pair.a.shared()->state[1] == 3);
    }
}

TEST_CASE("interface: a smaller MTU while it is bound")
{
    Dummy dummy;
    RawPair pair(on("dummy9"));

    pair.b.give(0, 4096);
    pair.a.push(pieces_desc(1, {{0, 1000}}));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
    command("ip link set dummy9 mtu 500");
    pair.a.push(pieces_desc(1, {{0, 1000}}));
    CHECK(pair.a.trap() == 1);
    CHECK(pair.a.error() == EMSGSIZE);
}

TEST_CASE("interface: one whose frames are too small")
{
    Dummy dummy;
    File fd = open_device();
    unet_fe_create wanted = on("dummy9");

    command("ip link set dummy9 mtu 68");
    CHECK(ioctl_of(fd, UNET_FE_CREATE, &wanted) == -EMSGSIZE);
}

// Creates an endpoint on the lo of a network namespace of its own: 0, or what went wrong.
static int create_apart(uint16_t port)
{
    struct stat ns;
    unet_fe_create wanted = small();
    const int fd = open(UNET_FE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);

    wanted.port = port;
    if (fd < 0 || unshare(CLONE_NEWNET) != 0 || std::system("ip link set lo up") != 0 ||
        stat("/proc/self/ns/net", &ns) != 0)
        return 1;
    if (ioctl_of(fd, UNET_FE_CREATE, &wanted) < 0)
        return 2;
    const std::string folder = kFolder + "lo@" + std::to_string(ns.st_ino);
    return text_of(folder + "/" + std::to_string(port) + "/sent") == "0" ? 0 : 3;
}

TEST_CASE("interface: of the same name in another network namespace")
{
    RawPair pair; // on our own lo
    int status = 0;
    const pid_t child = fork();

    if (child == 0)
        _exit(create_apart(pair.a.layout.port)); // which is free there
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
    // And what was there before still is.
    pair.a.push(inline_desc(1, "x"));
    CHECK(pair.a.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_RECEIVED, 1) == 1);
}
