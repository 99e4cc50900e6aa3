// SPDX-License-Identifier: BSD-3-Clause
//
// Attacks by direct access: ranges, places and pages that one has no business with.
#include "raw.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kLast = UNET_PLACE_OFFSET;

// Memory of whole pages, filled with one byte.
struct Pages {
    explicit Pages(size_t count, char fill, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int fd = -1)
        : bytes(count * kPage),
          at(static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0)))
    {
        REQUIRE(at != MAP_FAILED);
        std::memset(at, fill, bytes);
    }
    ~Pages() { munmap(at, bytes); }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;

    bool all(char byte) const
    {
        return std::all_of(at, at + bytes, [=](char c) { return c == byte; });
    }

    const size_t bytes;
    char *const at;
};

long export_of(const Raw &ep, uint64_t address, uint64_t bytes)
{
    unet_fe_export request = {address, bytes, 0, 0};
    const long result = ioctl_of(ep.fd, UNET_FE_EXPORT, &request);

    return result < 0 ? result : request.range;
}

long export_of(const Raw &ep, const Pages &pages)
{
    return export_of(ep, reinterpret_cast<uint64_t>(pages.at), pages.bytes);
}

long pin(int fd, uint32_t range, uint64_t first, uint32_t pages, unsigned long what = UNET_FE_PIN)
{
    unet_fe_pin request = {range, pages, first};

    return ioctl_of(fd, what, &request);
}

// The key, or the negative errno.
struct Granted {
    long error;
    uint64_t key;
};

Granted grant(const Raw &ep, uint32_t channel, uint64_t place, uint64_t bytes)
{
    unet_fe_grant request = {channel, 0, place, bytes, 0};
    const long error = ioctl_of(ep.fd, UNET_FE_GRANT, &request);

    return {error, request.key};
}

long revoke(const Raw &ep, uint64_t key)
{
    return ioctl_of(ep.fd, UNET_FE_REVOKE, &key);
}

// a may write in two pages of b's, range 1, of which both are pinned; its own two are pinned, too.
struct Direct : RawPair {
    Direct() : from(2, 'a'), to(2, 'b')
    {
        REQUIRE(export_of(a, from) == 1);
        REQUIRE(export_of(b, to) == 1);
        REQUIRE(pin(a.fd, 1, 0, 2) == 0);
        REQUIRE(pin(b.fd, 1, 0, 2) == 0);
        grant_all();
    }

    void grant_all()
    {
        const Granted granted = grant(b, 1, UNET_PLACE(1, 0), to.bytes);
        REQUIRE(granted.error == 0);
        key = granted.key;
    }

    // The completion's error, or 0.
    uint32_t put(uint64_t remote, uint32_t length, uint64_t local = UNET_PLACE(1, 0))
    {
        unet_desc desc = {};

        desc.channel = 1;
        desc.kind = UNET_DIRECT;
        desc.length = length;
        desc.local = local;
        desc.remote = remote;
        desc.grant = key;
        a.push(desc);
        CHECK(a.trap() == 1);
        return a.error();
    }

    // b counts what it drops, hears nothing of it, and its memory is what it was.
    void expect(unet_fe_counter counter, uint64_t remote, uint32_t length)
    {
        INFO("range " << (remote >> 48) << " offset " << (remote & UNET_PLACE_OFFSET) << " length "
                      << length);
        const uint64_t before = b.counter(counter);
        CHECK(put(remote, length) == 0);
        CHECK(wait_for(b, counter, before + 1) == before + 1);
        CHECK(b.next(1).kind == UNET_EMPTY);
        CHECK(to.all('b'));
    }

    void expect_good(uint64_t remote, uint32_t length)
    {
        const uint64_t before = b.counter(UNET_FE_DIRECT);
        CHECK(put(remote, length) == 0);
        CHECK(wait_for(b, UNET_FE_DIRECT, before + 1) == before + 1);
        const unet_desc desc = b.next(1);
        CHECK(desc.kind == UNET_DIRECT);
        CHECK(desc.pieces == 0);
        CHECK(desc.length == length);
        CHECK(desc.remote == remote);
        CHECK(desc.grant == key);
    }

    Pages from, to;
    uint64_t key = 0; // b's grant
};

} // namespace

TEST_CASE("direct: what is allowed lands where it belongs, and nowhere else")
{
    Direct pair;

    pair.expect_good(UNET_PLACE(1, 4000), 200); // across the pages
    CHECK(std::count(pair.to.at, pair.to.at + pair.to.bytes, 'a') == 200);
    CHECK(pair.to.at[3999] == 'b');
    CHECK(pair.to.at[4000] == 'a');
    CHECK(pair.to.at[4199] == 'a');
    CHECK(pair.to.at[4200] == 'b');
}

// ---- without permission -----------------------------------------------------------------

TEST_CASE("direct: without a grant")
{
    Direct pair;
    const uint64_t good = pair.key;

    for (const uint64_t key : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, good + 1, good - 1,
                               good ^ uint64_t{1} << 63, good ^ 256, good >> 8}) {
        pair.key = key;
        pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, 0), 100);
    }
    pair.key = good;
    pair.expect_good(UNET_PLACE(1, 0), 100);
}

TEST_CASE("direct: what comes after its grant was revoked, and its slot given to another")
{
    Direct pair;

    REQUIRE(revoke(pair.b, pair.key) == 0);
    CHECK(revoke(pair.b, pair.key) == -EINVAL);
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, 0), 100);
    const uint64_t old = pair.key;
    pair.grant_all();
    const uint64_t now = pair.key;
    REQUIRE(now % UNET_GRANTS_MAX == old % UNET_GRANTS_MAX); // the same slot
    CHECK(now != old);
    pair.key = old;
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, 0), 100);
    pair.key = now;
    pair.expect_good(UNET_PLACE(1, 0), 100);
}

TEST_CASE("direct: beside what was granted")
{
    Direct pair;

    REQUIRE(revoke(pair.b, pair.key) == 0);
    const Granted part = grant(pair.b, 1, UNET_PLACE(1, 1000), 500);
    REQUIRE(part.error == 0);
    pair.key = part.key;
    for (const uint64_t offset : {0, 999, 1401, 1499, 1500, 1501, 5000})
        pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, offset), 100);
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, 999), 502);
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(0, 1000), 100);
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(2, 1000), 100);
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, 1000), 501);
    pair.expect_good(UNET_PLACE(1, 1000), 500);
}

TEST_CASE("direct: by a grant that is another channel's")
{
    Direct pair;
    Raw c;

    REQUIRE(c.connect(request_for(pair.b, 0x77, 21)) == 1);
    REQUIRE(pair.b.connect(request_for(c, 0x77, 22)) == 2);
    for (int i = 0; i < 1000 && c.shared()->state[1] != 2; i++)
        CHECK(ioctl_of(c.fd, UNET_FE_TELL, 1ul) == 0);
    Pages own(1, 'c');
    REQUIRE(export_of(c, own) == 1);
    REQUIRE(pin(c.fd, 1, 0, 1) == 0);
    unet_desc desc = {};
    desc.channel = 1;
    desc.kind = UNET_DIRECT;
    desc.length = 64;
    desc.local = desc.remote = UNET_PLACE(1, 0);
    desc.grant = pair.key;
    c.push(desc);
    CHECK(c.trap() == 1);
    CHECK(wait_for(pair.b, UNET_FE_REFUSED, 1) == 1);
    CHECK(pair.to.all('b'));
}

TEST_CASE("direct: a grant does not outlive the channel")
{
    Direct pair;

    REQUIRE(ioctl_of(pair.b.fd, UNET_FE_DISCONNECT, 1ul) == 0);
    REQUIRE(ioctl_of(pair.a.fd, UNET_FE_DISCONNECT, 1ul) == 0);
    CHECK(revoke(pair.b, pair.key) == -EINVAL);
    CHECK(grant(pair.b, 1, UNET_PLACE(1, 0), 100).error == -ENOTCONN);
    REQUIRE(pair.b.connect(pair.to_a) == 1);
    REQUIRE(pair.a.connect(pair.to_b) == 1);
    open_both(pair.a, pair.b);
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, 0), 100);
}

TEST_CASE("direct: grants that cannot be")
{
    Direct pair;
    const uint64_t place = UNET_PLACE(1, 0);

    for (const uint32_t channel : {0u, 9u, 0x10001u, 0xffffffffu})
        CHECK(grant(pair.b, channel, place, 1).error == -EINVAL);
    CHECK(grant(pair.b, 2, place, 1).error == -ENOTCONN);
    for (const uint64_t range : {0, 2, 16, 17, 65535})
        CHECK(grant(pair.b, 1, UNET_PLACE(range, 0), 1).error == -EINVAL);
    CHECK(grant(pair.b, 1, place, 0).error == -EINVAL);
    CHECK(grant(pair.b, 1, place, 2 * kPage + 1).error == -EINVAL);
    CHECK(grant(pair.b, 1, place + 1, UINT64_MAX).error == -EINVAL);
    CHECK(grant(pair.b, 1, place + 2 * kPage, 1).error == -EINVAL);
    CHECK(grant(pair.b, 1, UNET_PLACE(1, kLast), 1).error == -EINVAL);
    CHECK(ioctl_of(pair.b.fd, UNET_FE_GRANT, 16ul) == -EFAULT);
    CHECK(ioctl_of(pair.b.fd, UNET_FE_REVOKE, 16ul) == -EFAULT);
    for (const uint64_t key : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, pair.key + 256})
        CHECK(revoke(pair.b, key) == -EINVAL);
    CHECK(revoke(pair.a, pair.key) == -EINVAL); // another endpoint's
}

TEST_CASE("direct: more grants than there may be")
{
    Direct pair;
    std::vector<uint64_t> keys = {pair.key};

    while (keys.size() < UNET_GRANTS_MAX) {
        const Granted one = grant(pair.b, 1, UNET_PLACE(1, 0), kPage);
        REQUIRE(one.error == 0);
        keys.push_back(one.key);
    }
    CHECK(grant(pair.b, 1, UNET_PLACE(1, 0), kPage).error == -ENOSPC);
    std::sort(keys.begin(), keys.end());
    CHECK(std::unique(keys.begin(), keys.end()) == keys.end());
    CHECK(keys.front() != 0);
    REQUIRE(revoke(pair.b, keys[100]) == 0);
    CHECK(grant(pair.b, 1, UNET_PLACE(1, 0), kPage).error == 0);
}

// ---- wild places ----------------------------------------------------------------------------

TEST_CASE("direct: places in no range")
{
    Direct pair;

    for (const uint64_t range : {0, 2, 16, 17, 18, 255, 32768, 65535})
        pair.expect(UNET_FE_REFUSED, UNET_PLACE(range, 0), 100);
    for (const uint64_t offset : std::vector<uint64_t>{2 * kPage, 2 * kPage - 99, 1ul << 31,
                                                       1ul << 32, 1ul << 47, kLast, kLast - 50})
        pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, offset), 100);
    pair.expect_good(UNET_PLACE(1, 2 * kPage - 100), 100); // up to the very end
}

TEST_CASE("direct: pages that are not pinned")
{
    Direct pair;

    REQUIRE(pin(pair.b.fd, 1, 1, 1, UNET_FE_UNPIN) == 0);
    pair.expect(UNET_FE_UNPINNED, UNET_PLACE(1, kPage), 100);
    pair.expect(UNET_FE_UNPINNED, UNET_PLACE(1, kPage - 1), 2); // half of it would have a place
    pair.expect_good(UNET_PLACE(1, kPage - 1), 1);
}

TEST_CASE("direct: a range that was revoked, and its number used again")
{
    Direct pair;

    REQUIRE(ioctl_of(pair.b.fd, UNET_FE_UNEXPORT, 1ul) == 0);
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, 0), 100);
    Pages other(2, 'o');
    REQUIRE(export_of(pair.b, other) == 1);
    pair.expect(UNET_FE_REFUSED, UNET_PLACE(1, 0), 100); // nothing of the old one is granted
    pair.grant_all();
    pair.expect(UNET_FE_UNPINNED, UNET_PLACE(1, 0), 100); // nothing of the old one is pinned
    REQUIRE(pin(pair.b.fd, 1, 0, 2) == 0);
    pair.expect_good(UNET_PLACE(1, 0), 100);
    CHECK(pair.to.all('b'));
    CHECK(other.at[0] == 'a');
}

// ---- wild descriptors -------------------------------------------------------------------------

TEST_CASE("direct: descriptors whose own place is not theirs")
{
    Direct pair;
    const uint64_t good = UNET_PLACE(1, 0);

    CHECK(pair.put(good, 100, UNET_PLACE(0, 0)) == EFAULT);
    CHECK(pair.put(good, 100, UNET_PLACE(2, 0)) == EFAULT);
    CHECK(pair.put(good, 100, UNET_PLACE(65535, UNET_PLACE_OFFSET)) == EFAULT);
    CHECK(pair.put(good, 100, UNET_PLACE(1, 2 * kPage - 99)) == EFAULT);
    CHECK(pair.put(good, 100, UNET_PLACE(1, UNET_PLACE_OFFSET)) == EFAULT);
    REQUIRE(pin(pair.a.fd, 1, 1, 1, UNET_FE_UNPIN) == 0);
    CHECK(pair.put(good, 100, UNET_PLACE(1, kPage)) == EFAULT);
    CHECK(pair.put(good, 100, UNET_PLACE(1, kPage - 50)) == EFAULT);
    CHECK(pair.b.counter(UNET_FE_DIRECT) == 0);
}

TEST_CASE("direct: lengths that cannot be")
{
    Direct pair;

    CHECK(pair.put(UNET_PLACE(1, 0), 0) == EINVAL);
    CHECK(pair.put(UNET_PLACE(1, 0), UNET_MESSAGE_MAX + 1) == EMSGSIZE);
    CHECK(pair.put(UNET_PLACE(1, 0), 0xffffffff) == EMSGSIZE);
    CHECK(pair.put(UNET_PLACE(1, 0), 0x80000000) == EMSGSIZE);
}

TEST_CASE("direct: pieces of the segment to a place")
{
    Direct pair;
    unet_desc desc = pieces_desc(1, {{0, 100}});

    desc.kind = UNET_DIRECT;
    desc.remote = UNET_PLACE(1, 0);
    pair.a.push(desc);
    CHECK(pair.a.trap() == 1);
    CHECK(pair.a.error() == EINVAL);
}

// ---- wild ranges ------------------------------------------------------------------------------

TEST_CASE("direct: ranges that cannot be")
{
    Raw ep;
    const uint64_t page = 0x10000000;

    CHECK(export_of(ep, page, 0) == -EINVAL);
    CHECK(export_of(ep, page + 1, kPage) == -EINVAL);
    CHECK(export_of(ep, page, kPage + 1) == -EINVAL);
    CHECK(export_of(ep, page, uint64_t{1} << 48) == -EINVAL);
    CHECK(export_of(ep, page, UINT64_MAX & ~(kPage - 1)) == -EINVAL);
    CHECK(export_of(ep, 0xffff888000000000, kPage) == -EINVAL); // the kernel's
    CHECK(export_of(ep, 0xfffffffffffff000, 2 * kPage) == -EINVAL);
    CHECK(export_of(ep, 0x7ffffffff000, 2 * kPage) == -EINVAL); // across the border
    CHECK(ioctl_of(ep.fd, UNET_FE_EXPORT, 16ul) == -EFAULT);
    for (const unsigned long range : {0ul, 1ul, 17ul, ~0ul, 1ul << 32 | 1})
        CHECK(ioctl_of(ep.fd, UNET_FE_UNEXPORT, range) == -EINVAL);
}

TEST_CASE("direct: more ranges than there may be")
{
    Raw ep;
    Pages pages(1, 0);

    for (long n = 1; n <= UNET_RANGES_MAX; n++)
        REQUIRE(export_of(ep, pages) == n);
    CHECK(export_of(ep, pages) == -ENOSPC);
    REQUIRE(ioctl_of(ep.fd, UNET_FE_UNEXPORT, 5ul) == 0);
    CHECK(export_of(ep, pages) == 5);
}

TEST_CASE("direct: calls before the creation")
{
    const File file = open_device();
    unet_fe_export request = {0x10000000, kPage, 0, 0};

    CHECK(ioctl_of(file, UNET_FE_EXPORT, &request) == -ENOTCONN);
    CHECK(pin(file, 1, 0, 1) == -ENOTCONN);
}

// ---- wild pages ---------------------------------------------------------------------------------

TEST_CASE("direct: pages that cannot be pinned, or not again")
{
    Raw ep;
    Pages pages(80, 0);

    REQUIRE(export_of(ep, pages) == 1);
    CHECK(pin(ep.fd, 0, 0, 1) == -EINVAL);
    CHECK(pin(ep.fd, 2, 0, 1) == -EINVAL);
    CHECK(pin(ep.fd, 0xffffffff, 0, 1) == -EINVAL);
    CHECK(pin(ep.fd, 1, 0, 0) == -EINVAL);
    CHECK(pin(ep.fd, 1, 0, UNET_FE_PIN_MAX + 1) == -EINVAL);
    CHECK(pin(ep.fd, 1, 80, 1) == -EINVAL);
    CHECK(pin(ep.fd, 1, 79, 2) == -EINVAL);
    CHECK(pin(ep.fd, 1, UINT64_MAX, 2) == -EINVAL);
    CHECK(ioctl_of(ep.fd, UNET_FE_PIN, 16ul) == -EFAULT);
    REQUIRE(pin(ep.fd, 1, 10, 4) == 0);
    CHECK(pin(ep.fd, 1, 13, 4) == -EBUSY);
    CHECK(pin(ep.fd, 1, 7, 4) == -EBUSY);
    CHECK(pin(ep.fd, 1, 0, 64, UNET_FE_UNPIN) == 0);
    CHECK(pin(ep.fd, 1, 7, 10) == 0);
}

TEST_CASE("direct: memory that is not there, or not to be written")
{
    Raw ep;
    Pages pages(3, 0);

    REQUIRE(export_of(ep, pages) == 1);
    REQUIRE(munmap(pages.at + kPage, kPage) == 0);
    CHECK(pin(ep.fd, 1, 0, 3) == -EFAULT);
    CHECK(pin(ep.fd, 1, 1, 1) == -EFAULT);
    REQUIRE(mprotect(pages.at + 2 * kPage, kPage, PROT_READ) == 0);
    CHECK(pin(ep.fd, 1, 2, 1) == -EFAULT);
    CHECK(pin(ep.fd, 1, 0, 1) == 0); // which failing before has not spoilt
}

TEST_CASE("direct: the module's own memory")
{
    Raw ep;

    REQUIRE(export_of(ep, reinterpret_cast<uint64_t>(ep.area), 2 * kPage) == 1);
    CHECK(pin(ep.fd, 1, 0, 1) == -EOPNOTSUPP);
}

TEST_CASE("direct: pages of a file")
{
    Raw ep;
    mkdir("/tmp/ramfs", 0700);
    REQUIRE(mount("ramfs", "/tmp/ramfs", "ramfs", 0, nullptr) == 0);
    {
        File file(open("/tmp/ramfs/file", O_RDWR | O_CREAT, 0600));
        REQUIRE(ftruncate(file, kPage) == 0);
        Pages pages(1, 'f', MAP_SHARED, file);
        REQUIRE(export_of(ep, pages) == 1);
        CHECK(pin(ep.fd, 1, 0, 1) == -EOPNOTSUPP);
    }
    CHECK(umount("/tmp/ramfs") == 0);
}

TEST_CASE("direct: shared memory may be pinned")
{
    Raw ep;
    File file(memfd_create("shared", MFD_CLOEXEC));
    REQUIRE(ftruncate(file, 2 * kPage) == 0);
    Pages pages(2, 's', MAP_SHARED, file);

    REQUIRE(export_of(ep, pages) == 1);
    CHECK(pin(ep.fd, 1, 0, 2) == 0);
}

// ---- address spaces that change -----------------------------------------------------------

TEST_CASE("direct: a child that pins its parent's range")
{
    Direct pair;
    int status = 0;
    const pid_t child = fork();

    if (child == 0)
        _exit(pin(pair.b.fd, 1, 0, 2, UNET_FE_UNPIN) == -EPERM && pin(pair.b.fd, 1, 0, 2) == -EPERM
                  ? 0
                  : 1);
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    pair.expect_good(UNET_PLACE(1, 0), 100);
}

TEST_CASE("direct: a child has copies of what is pinned")
{
    Direct pair;
    int go[2], status = 0;
    char byte = 0;

    REQUIRE(pipe(go) == 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(read(go[0], &byte, 1) == 1 && pair.to.all('b') ? 0 : 1);
    pair.expect_good(UNET_PLACE(1, 0), 100);
    CHECK(pair.to.at[99] == 'a');
    REQUIRE(write(go[1], &byte, 1) == 1);
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    close(go[0]);
    close(go[1]);
}

TEST_CASE("direct: memory that is unmapped while it is pinned, and other in its place")
{
    Direct pair;

    REQUIRE(munmap(pair.to.at, pair.to.bytes) == 0);
    pair.expect_good(UNET_PLACE(1, 0), 100); // into a page that nobody sees
    REQUIRE(mmap(pair.to.at, pair.to.bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pair.to.at);
    pair.expect_good(UNET_PLACE(1, 0), 100);
    CHECK(pair.to.all(0));
}

TEST_CASE("direct: unmapped, thrown away and pinned by threads while frames come")
{
    Direct pair;
    std::atomic<uint64_t> key{pair.key};
    std::thread hostile([&] {
        for (int i = 0; i < 200; i++) {
            madvise(pair.to.at, pair.to.bytes, MADV_DONTNEED);
            pin(pair.b.fd, 1, 0, 2, UNET_FE_UNPIN);
            revoke(pair.b, key);
            ioctl_of(pair.b.fd, UNET_FE_UNEXPORT, 1ul);
            export_of(pair.b, pair.to);
            key = grant(pair.b, 1, UNET_PLACE(1, 0), pair.to.bytes).key;
            pin(pair.b.fd, 1, 0, 2);
        }
    });
    for (int i = 0; i < 400; i++) {
        pair.key = key;
        pair.put(UNET_PLACE(1, 1000), 6000);
        while (pair.b.next(1).kind != UNET_EMPTY)
            continue;
    }
    hostile.join();
    const auto count = [&](unet_fe_counter which) { return pair.b.counter(which); };
    const uint64_t all = 400 - pair.a.counter(UNET_FE_LOST);
    for (int i = 0; i < 1000 && count(UNET_FE_DIRECT) + count(UNET_FE_REFUSED) +
                                        count(UNET_FE_UNPINNED) + count(UNET_FE_OVERRUNS) <
                                    all;
         i++)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(count(UNET_FE_DIRECT) + count(UNET_FE_REFUSED) + count(UNET_FE_UNPINNED) +
              count(UNET_FE_OVERRUNS) ==
          all);
}

// ---- limits ---------------------------------------------------------------------------------

TEST_CASE("direct: more pages than an endpoint may have")
{
    const std::string before = text_of("/sys/module/unet_fe/parameters/max_megabytes");
    Raw ep; // of less than 256 KiB
    Pages pages(512, 0);
    long result = 0;
    uint64_t pinned = 0;

    REQUIRE(export_of(ep, pages) == 1);
    set_parameter("max_megabytes", "1");
    while (result == 0 && pinned < 512)
        if ((result = pin(ep.fd, 1, pinned, 16)) == 0)
            pinned += 16;
    CHECK(result == -EDQUOT);
    CHECK((pinned >= 64 && pinned < 256));
    CHECK(pin(ep.fd, 1, 0, 16, UNET_FE_UNPIN) == 0);
    CHECK(pin(ep.fd, 1, pinned, 16) == 0); // there is room again
    set_parameter("max_megabytes", before.c_str());
}

// Pins until it may not, and returns the error, or -1 if it was allowed less than the time before.
static int pin_again_and_again()
{
    Raw ep;
    Pages pages(256, 0);
    uint64_t before = 1;

    for (int round = 0; round < 20; round++) {
        const long range = export_of(ep, pages);
        uint64_t first = 0;
        long result = 0;

        while (first < 256 && result == 0)
            if ((result = pin(ep.fd, static_cast<uint32_t>(range), first, 16)) == 0)
                first += 16;
        if (result != -ENOBUFS)
            return static_cast<int>(result);
        if (first < before)
            return -1; // what was pinned before has not been given back
        before = first;
        ioctl_of(ep.fd, UNET_FE_UNEXPORT, static_cast<unsigned long>(range));
    }
    return -ENOBUFS;
}

TEST_CASE("direct: more locked memory than others may have, again and again")
{
    CHECK(as_nobody(true, [] {
              const rlimit some = {1 << 20, 1 << 20};

              setrlimit(RLIMIT_MEMLOCK, &some);
              return pin_again_and_again();
          }) == -ENOBUFS);
}
