// SPDX-License-Identifier: BSD-3-Clause
//
// vmmc_test.cc - export and import, protection, notifications, redirection and lost links, over
// windows, memory of one machine, a network, and a bad network.
#include "links.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vmmc/vmmc.h>

using namespace world;
using links::run_link;

namespace {

enum { FIRST = 10 };
constexpr uint64_t NAME = 0x1234567890, SECRET = 0x9876543210;

// A rank with an instance.
struct Node {
    Rank &r;
    vmmc *v = nullptr;

    explicit Node(Rank &rank) : r(rank)
    {
        r.expect("vmmc_open", vmmc_open(r.g, FIRST, &v), 0);
        r.barrier();
    }
    ~Node() { vmmc_close(v); }
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;

    vmmc_exported *export_(Guarded &at, unsigned flags = 0, vmmc_notify_fn *fn = nullptr,
                           void *arg = nullptr, uint32_t rank = VMMC_ANYBODY)
    {
        vmmc_exported *e = nullptr;

        r.expect("vmmc_export",
                 vmmc_export(v, NAME, SECRET, rank, at.data(), at.size(), flags, fn, arg, &e), 0);
        return e;
    }
    vmmc_imported *import(uint32_t rank)
    {
        vmmc_imported *i = nullptr;

        r.expect("vmmc_import", vmmc_import(v, rank, NAME, SECRET, 20000, &i, nullptr), 0);
        return i;
    }
    void until(const char *what, const std::function<bool()> &done)
    {
        r.until(what, [&] { return vmmc_poll(v), done(); });
    }
    struct vmmc_stats stats() const
    {
        struct vmmc_stats stats;

        vmmc_stats(v, &stats);
        return stats;
    }
};

void send(Node &n, vmmc_imported *i, uint64_t offset, const void *from, size_t length,
          unsigned flags = 0, uint32_t tag = 0)
{
    n.r.expect("vmmc_send", vmmc_send(i, offset, from, length, flags, tag), 0);
}

using Seen = std::vector<std::vector<uint64_t>>;

void note_seen(vmmc_exported *, void *arg, const vmmc_notification *n)
{
    static_cast<Seen *>(arg)->push_back({n->source, n->tag, n->offset, n->length});
}

// Rank 1 exports a redirectable buffer, to which rank 0 sends.
void run_redirected(const std::string &link, size_t n,
                    const std::function<void(Node &, vmmc_imported *, Guarded &from)> &sender,
                    const std::function<void(Node &, vmmc_exported *, Guarded &buffer)> &owner)
{
    run_link(link, 2, [&](Rank &r) {
        Node node(r);
        Guarded memory(n);

        memory.fill(r.me == 0 ? 7 : 1);
        if (r.me == 1) {
            vmmc_exported *e = node.export_(memory, VMMC_REDIRECTABLE);
            owner(node, e, memory);
        } else {
            sender(node, node.import(1), memory);
        }
        r.barrier();
    });
}

void expect_redirected(Rank &r, vmmc_exported *e, size_t first, size_t placed, size_t last)
{
    vmmc_redirected seen = {};

    r.expect("vmmc_redirect_end", vmmc_redirect_end(e, &seen), 0);
    r.expect("first", seen.first, first);
    r.expect("placed", seen.placed, placed);
    r.expect("last", seen.last, last);
    r.expect("it has ended", vmmc_redirect_end(e, &seen), -ENOENT);
}

} // namespace

TEST_CASE("bytes are sent from any address to any offset of an imported buffer")
{
    run_link(EACH_LINK, 3, [](Rank &r) {
        static constexpr size_t N = 70000;
        Node node(r);
        Guarded buffer(N, 1), from(N, 3);
        size_t size = 0, sent = 0;
        vmmc_imported *i = nullptr;

        buffer.fill(r.left());
        from.fill(100 + r.me);
        vmmc_exported *e = node.export_(buffer);
        r.expect("import", vmmc_import(node.v, r.right(), NAME, SECRET, -1, &i, &size), 0);
        r.expect("size", size, N);
        r.barrier();
        for (size_t n : {0u, 1u, 32u, 33u, 8064u, 20000u}) {
            send(node, i, sent, from.data() + sent, n);
            sent += n;
        }
        send(node, i, sent, from.data() + sent, N - sent);
        node.until("arrival", [&] { return vmmc_arrived(e) == N; });
        r.expect("contents", buffer.wrong(100 + r.left()), std::string());
        r.expect("refused", node.stats().refused, 0u);
        r.barrier();
    });
}

TEST_CASE("arguments out of range are refused")
{
    run("shm", 1, [](Rank &r) {
        Node node(r);
        Guarded buffer(100);
        vmmc_exported *e;
        vmmc_imported *i;
        vmmc *second;
        uint8_t *at = buffer.data();
        const uint64_t far = UINT64_MAX - 5;

        r.expect("a second instance", vmmc_open(r.g, FIRST, &second), -EBUSY);
        r.expect("handler 0", vmmc_open(r.g, 0, &second), -EINVAL);
        r.expect("handlers", vmmc_open(r.g, GAM_HANDLERS - VMMC_HANDLERS + 1, &second), -EINVAL);
        auto bad_export = [&](uint32_t rank, void *where, size_t n, unsigned flags) {
            return vmmc_export(node.v, NAME, SECRET, rank, where, n, flags, nullptr, nullptr, &e);
        };
        r.expect("rank", bad_export(1, at, 100, 0), -EINVAL);
        r.expect("no memory", bad_export(0, nullptr, 100, 0), -EINVAL);
        r.expect("no bytes", bad_export(0, at, 0, 0), -EINVAL);
        r.expect("wraps", bad_export(0, at, SIZE_MAX, 0), -EINVAL);
        r.expect("flags", bad_export(0, at, 100, 2), -EINVAL);
        e = node.export_(buffer);
        vmmc_exported *again;
        r.expect("twice", vmmc_export(node.v, NAME, 1, 0, at, 1, 0, nullptr, nullptr, &again),
                 -EEXIST);
        r.expect("import of rank", vmmc_import(node.v, 1, NAME, SECRET, 0, &i, nullptr), -EINVAL);
        i = node.import(0);
        r.expect("beyond", vmmc_send(i, 101, at, 0, 0, 0), -EINVAL);
        r.expect("across", vmmc_send(i, 99, at, 2, 0, 0), -EINVAL);
        r.expect("wraps", vmmc_send(i, far, at, 100, 0, 0), -EINVAL);
        r.expect("flags", vmmc_send(i, 0, at, 1, 2, 0), -EINVAL);
        r.expect("source", vmmc_send(i, 0, nullptr, 1, 0, 0), -EINVAL);
        r.expect("not redirectable", vmmc_redirect(e, 0, at, 10), -EINVAL);
    });
}

TEST_CASE("an import needs the secret and the right rank, waits for the name, and gives up in time")
{
    run_link(EACH_LINK, 3, [](Rank &r) {
        Node node(r);
        Guarded buffer(64);
        vmmc_imported *i;
        vmmc_exported *e = nullptr;

        if (r.me == 0) {
            r.barrier(); // rank 1 has given up
            e = node.export_(buffer, 0, nullptr, nullptr, 1);
            r.barrier();
            r.expect("denied", node.stats().denied >= 2, true); // one may ask again
            vmmc_unexport(e);
        } else if (r.me == 1) {
            r.expect("no such name", vmmc_import(node.v, 0, NAME, SECRET, 20, &i, nullptr),
                     -ETIMEDOUT);
            r.barrier();
            i = node.import(0); // as soon as it is there
            r.expect("secret", vmmc_import(node.v, 0, NAME, SECRET + 1, 20000, &i, nullptr),
                     -EACCES);
            r.barrier();
        } else {
            r.barrier();
            r.expect("rank", vmmc_import(node.v, 0, NAME, SECRET, 20000, &i, nullptr), -EACCES);
            r.barrier();
        }
        r.barrier();
    });
}

// The owner handles two questions in one poll, between them another rank's message, upon which it
// exports: the answer to the first is "no such name", and the second's grant comes while the
// importer pauses.  If the times are others this shows nothing; the import has to succeed in any
// case.
TEST_CASE("a right that comes between two questions is taken")
{
    static Node *owner;
    static Guarded *exported;
    static vmmc_exported *e;
    constexpr uint32_t EXPORT = 100;

    run_link(EACH_LINK, 3, [](Rank &r) {
        Guarded buffer(64);
        Node node(r);
        std::vector<vmmc_imported *> imports;
        const auto later = [](int ms) {
            std::this_thread::sleep_for(std::chrono::milliseconds(ms));
        };

        owner = &node;
        exported = &buffer;
        r.handler(EXPORT, [](gam *, const gam_message *) { e = owner->export_(*exported); });
        for (int turn = 0; turn < 10; turn++) {
            r.barrier();
            if (r.me == 0) {
                while (r.shown(2, 0) != static_cast<uint64_t>(turn) + 1)
                    later(1);
                later(5);
                r.until("the export", [] { return e != nullptr; });
            } else if (r.me == 1) {
                imports.push_back(node.import(0));
            } else {
                later(3);
                r.expect("request", gam_request_0(r.g, 0, EXPORT), 0);
                r.show(0, turn + 1);
            }
            r.barrier();
            if (r.me == 0)
                vmmc_unexport(e);
            e = nullptr;
        }
        r.barrier();
    });
}

TEST_CASE("an import waits until its owner has opened an instance")
{
    run_link(EACH_LINK, 2, [](Rank &r) {
        Guarded buffer(64);
        vmmc *v = nullptr;
        vmmc_imported *i = nullptr;
        vmmc_exported *e = nullptr;

        if (r.me == 0) {
            r.until("a question that nobody understands", [&] { return r.stats().refused >= 2; });
            r.expect("open", vmmc_open(r.g, FIRST, &v), 0);
            r.expect("export",
                     vmmc_export(v, NAME, SECRET, 1, buffer.data(), 64, 0, nullptr, nullptr, &e),
                     0);
        } else {
            r.expect("open", vmmc_open(r.g, FIRST, &v), 0);
            r.expect("import", vmmc_import(v, 0, NAME, SECRET, -1, &i, nullptr), 0);
        }
        r.barrier();
        vmmc_close(v);
        r.barrier();
    });
}

TEST_CASE("what is not imported, or lies beyond the buffer, is refused by its owner")
{
    run_link(EACH_LINK, 3, [](Rank &r) {
        static constexpr size_t N = 10000;
        Node node(r);
        Guarded buffer(N), from(N);
        Seen seen;

        from.fill(9);
        buffer.fill(1);
        if (r.me == 0) {
            vmmc_exported *e = node.export_(buffer, 0, note_seen, &seen);
            r.barrier();
            node.until("both ranks' messages", [&] { return node.stats().refused == 10; });
            r.barrier();
            r.expect("arrived", vmmc_arrived(e), 0u);
            r.expect("notified", seen.size(), 0u);
            r.expect("contents", buffer.wrong(1), std::string());
            r.barrier();
            node.until("the good one", [&] { return vmmc_arrived(e) == 5; });
        } else {
            vmmc_imported *i = r.me == 1 ? node.import(0) : nullptr;
            // The first export has number 0.  GAM's own calls know no bounds: rank 1 has imported
            // it and writes beyond it, and rank 2 has not and writes within.
            const uint64_t at = r.me == 1 ? N : 0;
            const uint32_t notify = FIRST + 4;
            auto store = [&](uint64_t offset, size_t n, uint32_t number) {
                r.expect("store",
                         gam_place_store(r.g, 0, from.data(), n, number, offset, notify, 0), 0);
            };

            r.barrier();
            store(at, 32, 0);
            store(at + 8, 32, 0);
            store(at, 9000, 1 << 12); // two pieces, both refused: of a number not yet given
            const uint64_t fake[3] = {0, 0, at + 1};
            if (r.me == 2) // as if all had come
                r.expect("request", gam_request(r.g, 0, notify, 3, fake), 0);
            else
                store(N - 31, 32, 0);
            r.barrier();
            r.barrier();
            if (i)
                send(node, i, 3, from.data(), 5);
        }
        r.barrier();
    });
}

TEST_CASE("notifications run in order, once their bytes are there, and wait while blocked")
{
    run_link(EACH_LINK, 2, [](Rank &r) {
        Node node(r);
        Guarded buffer(20000), from(20000);
        Seen seen;

        from.fill(r.me);
        vmmc_exported *e = node.export_(buffer, 0, note_seen, &seen);
        vmmc_imported *i = node.import(r.right());
        vmmc_block(node.v);
        vmmc_block(node.v);
        r.barrier();
        for (uint32_t k = 0; k < 100; k++)
            send(node, i, k, &from.data()[k], 1, VMMC_NOTIFY, k);
        send(node, i, 5, from.data() + 5, 19000, VMMC_NOTIFY, 100);
        send(node, i, 200, nullptr, 0, VMMC_NOTIFY, 101);
        node.until("arrival", [&] { return vmmc_arrived(e) == 19100; });
        r.barrier();
        r.expect("blocked", seen.size(), 0u);
        vmmc_unblock(node.v);
        r.expect("blocked twice", seen.size(), 0u);
        vmmc_unblock(node.v);
        node.until("notifications", [&] { return seen.size() == 102; });
        for (uint64_t k = 0; k < 100; k++)
            r.expect("notification", seen[k] == std::vector<uint64_t>({r.left(), k, k, 1}), true);
        r.expect("long", seen[100] == std::vector<uint64_t>({r.left(), 100, 5, 19000}), true);
        r.expect("empty", seen[101] == std::vector<uint64_t>({r.left(), 101, 200, 0}), true);
        r.expect("contents", pattern_wrong(buffer.data(), 19005, r.left()), std::string());
        r.barrier();
    });
}

TEST_CASE("a function of notifications may send, and does not run within itself")
{
    struct Echo {
        Node *node;
        vmmc_imported *back = nullptr;
        int depth = 0, runs = 0;

        static void run(vmmc_exported *, void *arg, const vmmc_notification *n)
        {
            auto &echo = *static_cast<Echo *>(arg);

            self().note("depth", ++echo.depth, 1);
            echo.runs++;
            if (n->tag < 199)
                self().note("echo", vmmc_send(echo.back, 0, &n->tag, 4, VMMC_NOTIFY, n->tag + 1),
                            0);
            vmmc_poll(echo.node->v);
            echo.depth--;
        }
    };

    run_link(EACH_LINK, 2, [](Rank &r) {
        Node node(r);
        Guarded buffer(64);
        Echo echo{&node};
        const uint32_t zero = 0;

        node.export_(buffer, 0, Echo::run, &echo);
        echo.back = node.import(r.right());
        r.barrier();
        if (r.me == 0)
            send(node, echo.back, 0, &zero, 4, VMMC_NOTIFY, 0);
        node.until("echoes", [&] { return echo.runs == 100; });
        r.barrier();
    });
}

// ---- redirection ----------------------------------------------------------------------------

TEST_CASE("a posting that is there in time has all bytes, and the buffer none")
{
    static constexpr size_t N = 100000;
    const std::string link = EACH_LINK;

    run_redirected(
        link, N,
        [](Node &n, vmmc_imported *i, Guarded &from) {
            n.r.barrier();
            send(n, i, 0, from.data(), N);
        },
        [](Node &n, vmmc_exported *e, Guarded &buffer) {
            Guarded to(N, 5);

            n.r.expect("post", vmmc_redirect(e, 0, to.data(), N), 0);
            n.r.expect("post twice", vmmc_redirect(e, 0, to.data(), N), -EBUSY);
            n.r.barrier();
            n.until("arrival", [&] { return vmmc_arrived(e) == N; });
            expect_redirected(n.r, e, 0, N, 0);
            n.r.expect("posted memory", to.wrong(7), std::string());
            n.r.expect("buffer", buffer.wrong(1), std::string());
            n.r.expect("full", n.stats().full, 1u);
            n.r.expect("redirected", n.stats().redirected_bytes, N);
        });
}

TEST_CASE("a posting that is full takes nothing more, and the buffer has what comes after it")
{
    static constexpr size_t N = 5000;
    const std::string link = EACH_LINK;

    run_redirected(
        link, N,
        [](Node &n, vmmc_imported *i, Guarded &from) {
            n.r.barrier();
            send(n, i, 0, from.data(), N);
            from.fill(8);
            send(n, i, 0, from.data(), N);
        },
        [](Node &n, vmmc_exported *e, Guarded &buffer) {
            Guarded to(N, 5);

            n.r.expect("post", vmmc_redirect(e, 0, to.data(), N), 0);
            n.r.barrier();
            n.until("arrival", [&] { return vmmc_arrived(e) == 2 * N; });
            expect_redirected(n.r, e, 0, N, 0);
            n.r.expect("posted memory", to.wrong(7), std::string());
            n.r.expect("buffer", buffer.wrong(8), std::string());
            n.r.expect("redirected", n.stats().redirected_bytes, N);
        });
}

TEST_CASE("a posting for a part of the buffer has that part, and no byte beside it")
{
    static constexpr size_t N = 50000, AT = 12345, PART = 23456;
    const std::string link = EACH_LINK;

    run_redirected(
        link, N,
        [](Node &n, vmmc_imported *i, Guarded &from) {
            n.r.barrier();
            send(n, i, 0, from.data(), N);
        },
        [](Node &n, vmmc_exported *e, Guarded &buffer) {
            Guarded to(PART);

            n.r.expect("beyond", vmmc_redirect(e, N - PART + 1, to.data(), PART), -EINVAL);
            n.r.expect("post", vmmc_redirect(e, AT, to.data(), PART), 0);
            n.r.barrier();
            n.until("arrival", [&] { return vmmc_arrived(e) == N; });
            expect_redirected(n.r, e, 0, PART, 0);
            n.r.expect("posted memory", to.wrong(7 + AT), std::string());
            n.r.expect("before", pattern_wrong(buffer.data(), AT, 7), std::string());
            n.r.expect("between", pattern_wrong(buffer.data() + AT, PART, 1 + AT), std::string());
            n.r.expect("behind",
                       pattern_wrong(buffer.data() + AT + PART, N - AT - PART, 7 + AT + PART),
                       std::string());
        });
}

TEST_CASE("a posting that is late, or ends early, tells which bytes it has")
{
    static constexpr size_t N = 30000, THIRD = 10000;
    const std::string link = EACH_LINK;

    run_redirected(
        link, N,
        [](Node &n, vmmc_imported *i, Guarded &from) {
            for (size_t k = 0; k < 3; k++) {
                send(n, i, k * THIRD, from.data() + k * THIRD, THIRD);
                n.r.barrier();
            }
        },
        [](Node &n, vmmc_exported *e, Guarded &buffer) {
            Guarded to(N), late(N);
            const auto arrive = [&](size_t bytes) {
                n.until("arrival", [&] { return vmmc_arrived(e) == bytes; });
            };

            to.fill(3);
            late.fill(4);
            arrive(THIRD);
            n.r.expect("post", vmmc_redirect(e, 0, to.data(), N), 0);
            n.r.barrier();
            arrive(2 * THIRD);
            expect_redirected(n.r, e, THIRD, THIRD, THIRD);
            n.r.expect("partial", n.stats().partial, 1u);
            n.r.barrier();
            arrive(N);
            n.r.barrier();
            n.r.expect("buffer", pattern_wrong(buffer.data(), THIRD, 7), std::string());
            n.r.expect("posted", pattern_wrong(to.data() + THIRD, THIRD, 7 + THIRD), std::string());
            n.r.expect("before", pattern_wrong(to.data(), THIRD, 3), std::string());
            n.r.expect("behind", pattern_wrong(to.data() + 2 * THIRD, THIRD, 3 + 2 * THIRD),
                       std::string());
            n.r.expect("buffer again",
                       pattern_wrong(buffer.data() + 2 * THIRD, THIRD, 7 + 2 * THIRD),
                       std::string());
            n.r.expect("post late", vmmc_redirect(e, 0, late.data(), N), 0);
            expect_redirected(n.r, e, N, 0, 0);
            n.r.expect("nothing", late.wrong(4), std::string());
        });
}

TEST_CASE("a posting that was cancelled is written no more")
{
    static constexpr size_t N = 20000;
    const std::string link = EACH_LINK;

    run_redirected(
        link, N,
        [](Node &n, vmmc_imported *i, Guarded &from) {
            n.r.barrier();
            send(n, i, 0, from.data(), N);
        },
        [](Node &n, vmmc_exported *e, Guarded &buffer) {
            Guarded to(N);

            to.fill(3);
            n.r.expect("post", vmmc_redirect(e, 0, to.data(), N), 0);
            expect_redirected(n.r, e, N, 0, 0);
            n.r.barrier();
            n.until("arrival", [&] { return vmmc_arrived(e) == N; });
            n.r.expect("posted memory", to.wrong(3), std::string());
            n.r.expect("buffer", buffer.wrong(7), std::string());
        });
}

// Rank 1 gives its import of rank 0's buffer back, and rank 2 gets one.
static void pass_on(Rank &r, const Node &node, vmmc_imported *i)
{
    int rc = 0;

    if (r.me == 1)
        vmmc_unimport(i);
    if (r.me == 2)
        do
            rc = vmmc_import(node.v, 0, NAME, SECRET, 20000, &i, nullptr);
        while (rc == -EBUSY);
    r.expect("given back", rc, 0);
    r.barrier();
}

TEST_CASE("a redirectable buffer is one rank's at a time")
{
    run_link(EACH_LINK, 3, [](Rank &r) {
        Node node(r);
        Guarded buffer(64);
        vmmc_imported *i = nullptr;

        if (r.me == 0)
            node.export_(buffer, VMMC_REDIRECTABLE);
        if (r.me == 1)
            i = node.import(0);
        r.barrier();
        if (r.me == 2)
            r.expect("taken", vmmc_import(node.v, 0, NAME, SECRET, 20000, &i, nullptr), -EBUSY);
        r.barrier();
        pass_on(r, node, i);
    });
}

TEST_CASE("who asks again because the owner computes gets one right, and gives it back")
{
    run_link(EACH_LINK, 3, [](Rank &r) {
        Node node(r);
        Guarded buffer(64);
        vmmc_imported *i = nullptr;

        if (r.me == 0)
            node.export_(buffer, VMMC_REDIRECTABLE);
        r.barrier();
        if (r.me == 0) { // rank 1 asks several times meanwhile
            const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
            while (std::chrono::steady_clock::now() < until)
                ;
        }
        if (r.me == 1)
            i = node.import(0);
        r.barrier();
        pass_on(r, node, i);
    });
}

// ---- lost links ------------------------------------------------------------------------------

namespace {

struct Lost {
    int count = 0, why = 0;

    static void note(vmmc_imported *, void *arg, int why)
    {
        auto &lost = *static_cast<Lost *>(arg);

        lost.count++;
        lost.why = why;
    }
};

} // namespace

TEST_CASE("the end of an export is told, nothing is written after it, and it is imported anew")
{
    run_link(EACH_LINK, 2, [](Rank &r) {
        Node node(r);
        Guarded buffer(5000), second(5000), from(5000);
        Lost lost;

        buffer.fill(1);
        from.fill(2);
        if (r.me == 0) {
            vmmc_exported *e = node.export_(buffer);
            r.barrier();
            vmmc_unexport(e);
            node.until("a late message", [&] { return node.stats().refused >= 1; });
            r.expect("contents", buffer.wrong(1), std::string());
            e = node.export_(second);
            node.until("arrival", [&] { return vmmc_arrived(e) == 5000; });
            node.until("a later one",
                       [&] { return node.stats().refused >= 2 || vmmc_arrived(e) > 5000; });
            r.expect("second", second.wrong(2), std::string());
            r.expect("arrived", vmmc_arrived(e), 5000u);
        } else {
            vmmc_imported *i = node.import(0), *j = nullptr;
            const uint32_t number = 0; // of the first export

            vmmc_on_invalid(node.v, Lost::note, &lost);
            r.barrier();
            node.until("the end", [&] { return lost.count == 1; });
            r.expect("why", lost.why, -ESTALE);
            r.expect("valid", vmmc_is_valid(i), false);
            r.expect("send", vmmc_send(i, 0, from.data(), 8, 0, 0), -ESTALE);
            // As if it had been sent before that was known.
            r.expect("late", gam_place_store(r.g, 0, from.data(), 5000, number, 0, 0, 0), 0);
            j = node.import(0);
            send(node, j, 0, from.data(), 5000);
            r.expect("late", gam_place_store(r.g, 0, buffer.data(), 5000, number, 0, 0, 0), 0);
            r.expect("old one", vmmc_is_valid(i), false);
            vmmc_unimport(i);
        }
        r.barrier();
        r.expect("told once", lost.count, r.me == 1 ? 1 : 0);
    });
}

TEST_CASE("an import that has ended before it was noted is noticed")
{
    run_link(EACH_LINK, 2, [](Rank &r) {
        Node node(r);
        Guarded buffer(8), stop(8), from(8);

        if (r.me == 0) {
            vmmc_exported *end = nullptr;

            r.expect("vmmc_export",
                     vmmc_export(node.v, NAME + 1, SECRET, VMMC_ANYBODY, stop.data(), stop.size(),
                                 0, nullptr, nullptr, &end),
                     0);
            // The end of an export goes out right behind the right that the poll has given.  Who
            // reads both at once asks anew, so that now and then the end takes its time.
            node.until("the last import", [&, round = 0]() mutable {
                vmmc_exported *e = node.export_(buffer);
                for (int polls = round++ % 16 ? 1 : 2000; polls > 0; polls--)
                    vmmc_poll(node.v);
                vmmc_unexport(e);
                return vmmc_arrived(end) > 0;
            });
        } else {
            vmmc_imported *end = nullptr;

            r.expect("vmmc_import", vmmc_import(node.v, 0, NAME + 1, SECRET, 20000, &end, nullptr),
                     0);
            for (int round = 0; round < 50; round++) {
                vmmc_imported *i = node.import(0);
                node.until("the end", [&] { return !vmmc_is_valid(i); });
                vmmc_unimport(i);
            }
            send(node, end, 0, from.data(), 8);
        }
        r.barrier();
    });
}

TEST_CASE("the death of an owner ends its imports, and others are imported instead")
{
    Options options;
    const std::string link = EACH_LINK;

    options.may_die = true;
    run_link(
        link, 3,
        [](Rank &r) {
            Node node(r);
            Guarded buffer(5000), from(5000);
            Lost lost;

            from.fill(2);
            vmmc_on_invalid(node.v, Lost::note, &lost);
            vmmc_exported *e = node.export_(buffer);
            if (r.me == 2) {
                r.barrier();
                kill(getpid(), SIGKILL);
            }
            vmmc_imported *i = node.import(2), *j = nullptr;
            r.barrier();
            node.until("death", [&] { return lost.count == 1; });
            r.expect("why", lost.why, -EPIPE);
            r.expect("valid", vmmc_is_valid(i), false);
            r.expect("send", vmmc_send(i, 0, from.data(), 8, 0, 0), -EPIPE);
            r.expect("import", vmmc_import(node.v, 2, NAME, SECRET, -1, &j, nullptr), -EPIPE);
            vmmc_unimport(i);
            j = node.import(1 - r.me);
            send(node, j, 0, from.data(), 5000);
            node.until("arrival", [&] { return vmmc_arrived(e) == 5000; });
            r.expect("contents", buffer.wrong(2), std::string());
            r.show(0, 1);
            r.until("the other", [&] { return r.shown(1 - r.me, 0) == 1; });
        },
        options);
}
