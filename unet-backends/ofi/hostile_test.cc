// SPDX-License-Identifier: BSD-3-Clause
//
// What a peer sends that does not keep to the rules, and what users tell that cannot be.
#include "conformance/harness.h"
#include "conformance/process.h"
extern "C" {
#include "ofi/ofi.h"
}

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <optional>

namespace {

// A pair whose side `a` sends packets of any kind past its own rules.
struct Liar : Pair {
    Liar() : from(*ofi_of(a)), to(*ofi_of(b)) {}

    ofi_header header(ofi_kind kind, uint32_t length = 0) const
    {
        const ofi_link &link = from.link[ab];
        ofi_header h = {};

        std::memcpy(h.token, link.peer_token, sizeof h.token);
        h.version = OFI_VERSION;
        h.kind = static_cast<uint8_t>(kind);
        h.channel = link.peer_channel;
        h.seq = link.sent;
        h.ack = link.done;
        h.writes = link.writes;
        h.length = length;
        return h;
    }

    void send(const ofi_header &h, const Bytes &data = {})
    {
        ofi_op *op = nullptr; // the endpoint's, for it takes every completion for one of its own

        REQUIRE(data.size() <= OFI_FRAGMENT);
        REQUIRE(eventually([&] {
            unet_ofi_receive(&from);
            return (op = ofi_list_take(&from.free_sends)) != nullptr;
        }));
        std::memcpy(op->bytes, &h, sizeof h);
        std::copy(data.begin(), data.end(), op->bytes + sizeof h);
        op->what = OFI_IS_SEND;
        op->channel = ab;
        op->token = from.link[ab].token[0];
        REQUIRE(eventually([&] {
            unet_ofi_receive(&from);
            return fi_send(from.fabric.ep, op->bytes, sizeof h + data.size(), op->descriptor,
                           from.link[ab].address, &op->context) == 0;
        }));
        from.under_way++;
        REQUIRE(eventually([&] {
            unet_progress(a);
            unet_progress(b);
            return changed();
        }));
    }

    // One that the receiver takes for the next in order.
    void send_next(const ofi_header &h, const Bytes &data = {})
    {
        send(h, data);
        from.link[ab].sent++;
    }

    bool changed()
    {
        const uint64_t now = b->stats.malformed + b->stats.foreign;
        const bool is_new = now != counted;

        counted = now;
        return is_new;
    }

    ofi_endpoint &from, &to;
    uint64_t counted = 0;
};

template <class T> Bytes bytes_of(const T &value)
{
    const auto *first = reinterpret_cast<const uint8_t *>(&value);

    return Bytes(first, first + sizeof value);
}

// What a variable of the environment is meanwhile.
class Told {
public:
    Told(const char *name, const char *value) : name_(name)
    {
        if (const char *before = std::getenv(name))
            before_ = before;
        setenv(name, value, 1);
    }
    ~Told() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
    Told(const Told &) = delete;
    Told &operator=(const Told &) = delete;

private:
    const char *name_;
    std::optional<std::string> before_;
};

int try_to_open(std::string &remedy)
{
    unet_endpoint *ep = nullptr;
    const int error = unet_open(unet_backend("ofi"), nullptr, &ep);

    remedy = unet_remedy(unet_backend("ofi"), error);
    unet_close(ep);
    return error;
}

} // namespace

TEST_CASE("ofi: packets that contradict themselves are counted and dropped")
{
    Liar liar;
    ofi_header h = liar.header(OFI_INLINE, 5);

    h.version++;
    liar.send(h, Bytes(5));
    h = liar.header(static_cast<ofi_kind>(0));
    liar.send(h);
    h = liar.header(static_cast<ofi_kind>(99));
    liar.send(h);
    liar.send_next(liar.header(OFI_INLINE, 6), Bytes(5));                   // another length
    liar.send_next(liar.header(OFI_INLINE, 60), Bytes(60));                 // more than inline
    liar.send_next(liar.header(OFI_PIECES, 0));                             // nothing
    liar.send_next(liar.header(OFI_PIECES, 100), Bytes(99));                // less than it says
    liar.send_next(liar.header(OFI_PIECES, 9000), Bytes(100));              // not a whole fragment
    liar.send_next(liar.header(OFI_PIECES, 1u << 20), Bytes(OFI_FRAGMENT)); // too long
    h = liar.header(OFI_PIECES, 9000);
    h.fragment = 1; // of a message that has not begun
    liar.send_next(h, Bytes(9000 - OFI_FRAGMENT));
    liar.send_next(liar.header(OFI_PUT, 8), bytes_of(ofi_put{UNET_PLACE(1, 4096)})); // no window
    liar.send_next(liar.header(OFI_GRANT), Bytes(7));
    liar.send_next(liar.header(OFI_REVOKE), bytes_of(uint64_t{77})); // never granted
    liar.send(liar.header(OFI_ASK), Bytes(3));
    CHECK(liar.b->stats.malformed == 14);
    CHECK(liar.b->stats.foreign == 0);
    CHECK(take(liar.b).kind == UNET_EMPTY);
    REQUIRE(send_text(liar.a, liar.ab, "all is well", 1) == 0);
    CHECK(text(await(liar.b)) == "all is well");
}

TEST_CASE("ofi: packets for a channel, or an opening of it, that is none are foreign")
{
    Liar liar;
    ofi_header h = liar.header(OFI_INLINE, 5);

    h.token[1] ^= 1;
    liar.send(h, Bytes(5));
    h = liar.header(OFI_INLINE, 5);
    h.channel = 0;
    liar.send(h, Bytes(5));
    h.channel = 60000;
    liar.send(h, Bytes(5));
    h = liar.header(OFI_ACK);
    h.token[0] ^= 1;
    liar.send(h);
    ofi_hello hello = {liar.from.link[liar.ab].key_out ^ 1, {1, 2}, 1, 8, 0};
    liar.send(liar.header(OFI_CLOSE), bytes_of(hello)); // of a conversation that is none
    hello.key ^= 1;
    liar.send(liar.header(OFI_CLOSE), bytes_of(hello)); // of another life of the peer's
    CHECK(liar.b->stats.foreign == 6);
    CHECK(unet_channel_state(liar.b, liar.ba) == UNET_OPEN);
    REQUIRE(send_text(liar.a, liar.ab, "all is well", 1) == 0);
    CHECK(text(await(liar.b)) == "all is well");
}

TEST_CASE("ofi: greetings that promise nonsense open nothing")
{
    Liar liar;
    const ofi_link &link = liar.from.link[liar.ab];

    for (const auto &[channel, window] : {std::pair<uint16_t, uint16_t>{0, 8}, {1, 0}, {1, 1000}}) {
        const ofi_hello hello = {link.key_out, {link.token[0], link.token[1]}, channel, window, 0};

        liar.send(liar.header(OFI_OPEN), bytes_of(hello));
    }
    liar.send(liar.header(OFI_OPENED), Bytes(3));
    CHECK(liar.b->stats.malformed == 4);
    CHECK(unet_channel_state(liar.b, liar.ba) == UNET_OPEN);
}

TEST_CASE("ofi: who sends out of order, without credit, or acknowledges what was not sent is dead")
{
    const int what = GENERATE(0, 1, 2);
    Liar liar;
    ofi_header h = liar.header(OFI_INLINE, 1);

    CAPTURE(what);
    if (what == 0)
        h.seq++;
    else if (what == 1)
        h.ack++;
    for (int i = 0; what == 2 && i < liar.to.window; i++) { // it gives no buffers, so they wait
        fill(liar.a, 0, Bytes(100));
        const unet_piece piece = {0, 100};
        REQUIRE(unet_send(liar.a, liar.ab, 0, &piece, 1, nullptr) == 0);
    }
    if (what == 2)
        h.seq = liar.from.link[liar.ab].sent;
    liar.send(h, Bytes(1));
    CHECK(liar.b->stats.malformed == 1);
    CHECK(unet_channel_state(liar.b, liar.ba) == UNET_DEAD);
}

TEST_CASE("ofi: a window is written to by those alone to whom it was granted, and where")
{
    Liar liar;
    alignas(4096) static uint8_t to[8192], from[8192];
    uint16_t there, here;
    uint64_t grant = 0, all = 0;
    uint32_t ticket = 0;

    if (!(liar.a->capabilities & UNET_CAP_RANGES))
        return;
    REQUIRE(unet_export(liar.b, to, sizeof to, &there) == 0);
    REQUIRE(unet_export(liar.a, from, sizeof from, &here) == 0);
    std::memset(from, 7, sizeof from);
    std::memset(to, 1, sizeof to);
    const uint64_t source = UNET_PLACE(here, 0), place = UNET_PLACE(there, 1000);
    CHECK(unet_hold(liar.a, source, 8193) == -EINVAL);
    CHECK(unet_grant(liar.b, liar.ba, UNET_PLACE(there + 1, 0), 1, &grant) == -EINVAL);
    CHECK(unet_grant(liar.b, liar.ba, UNET_PLACE(there, 8000), 193, &grant) == -EINVAL);
    REQUIRE(unet_grant(liar.b, liar.ba, place, 100, &grant) == 0);
    REQUIRE(eventually([&] {
        unet_progress(liar.b);
        unet_progress(liar.a);
        return liar.from.link[liar.ab].theirs != nullptr;
    }));
    const auto put = [&](uint64_t at, uint32_t n, uint64_t number) {
        const uint64_t before = liar.a->stats.bad_descriptors;
        REQUIRE(unet_put(liar.a, liar.ab, 5, source, n, at, number, &ticket) == 0);
        REQUIRE(eventually([&] {
            unet_progress(liar.a);
            unet_progress(liar.b);
            return unet_sent(liar.a, ticket);
        }));
        return liar.a->stats.bad_descriptors == before;
    };
    CHECK_FALSE(put(place, 100, grant)); // from what is not held
    REQUIRE(unet_hold(liar.a, source, 4096) == 0);
    CHECK_FALSE(put(place, 101, grant));
    CHECK_FALSE(put(place - 1, 10, grant));
    CHECK_FALSE(put(place + 100, 1, grant));
    CHECK_FALSE(put(place, 100, grant + 256));
    CHECK(put(place + 10, 90, grant));
    for (Message m; m.kind != UNET_DIRECT;) {
        m = await(liar.b);
        CHECK((m.kind == UNET_DIRECT && m.user == 5 && m.length == 90));
    }
    CHECK((to[1009] == 1 && to[1010] == 7 && to[1099] == 7 && to[1100] == 1));
    REQUIRE(unet_revoke(liar.b, grant) == 0);
    CHECK(unet_revoke(liar.b, grant) == -EINVAL);
    REQUIRE(eventually([&] {
        unet_progress(liar.b);
        unet_progress(liar.a);
        return liar.from.link[liar.ab].theirs == nullptr;
    }));
    CHECK_FALSE(put(place, 10, grant));
    for (uint32_t i = 0; i < UNET_GRANTS_MAX; i++) { // of which the peer is told as credits allow
        REQUIRE(eventually([&] {
            unet_progress(liar.a);
            unet_progress(liar.b);
            return unet_grant(liar.b, liar.ba, place, 1, &all) == 0;
        }));
    }
    CHECK(unet_grant(liar.b, liar.ba, place, 1, &all) == -ENOSPC);
    CHECK(liar.b->stats.malformed + liar.b->stats.foreign == 0);
    unet_release(liar.a, source, 4096);
}

TEST_CASE("ofi: providers, domains and libraries that are not there are told apart")
{
    std::string remedy;

    {
        Told told("UNET_OFI_PROVIDER", "carrier-pigeon");
        CHECK(try_to_open(remedy) == -EPROTONOSUPPORT);
        CHECK_THAT(remedy, Catch::Contains("cxi, efa, psm2"));
    }
    for (const char *name :
         {"udp", "tcp", "shm", "sockets"}) { // without what this backend builds on
        Told told("UNET_OFI_PROVIDER", name);
        CHECK(try_to_open(remedy) == -EPROTONOSUPPORT);
    }
    {
        Told told("UNET_OFI_DOMAIN", "no-such-device");
        CHECK(try_to_open(remedy) == -ENODATA);
        CHECK_THAT(remedy, Catch::Contains("fi_info -p"));
    }
    {
        Told provider("UNET_OFI_PROVIDER", "tcp;ofi_rxm"), told("UNET_INTERFACE", "nowhere0");
        CHECK(try_to_open(remedy) == -EINVAL);
        CHECK_THAT(remedy, Catch::Contains("UNET_INTERFACE"));
    }
}

// Loading is tried again only where it has failed, so this takes processes of their own.
TEST_CASE("ofi: without a libfabric, or with something else, it says so")
{
    const auto child = [](const char *library, int expected) {
        return Child([=] {
                   std::string remedy;

                   setenv("UNET_OFI_LIBRARY", library, 1);
                   return try_to_open(remedy) == expected &&
                          remedy.find("UNET_OFI_LIBRARY") != std::string::npos;
               })
            .wait();
    };

    if (dlopen("libfabric.so.1", RTLD_NOW | RTLD_NOLOAD)) // by a case before this one
        return;
    CHECK(child("/no/such/library", -ELIBACC) == 0);
    CHECK(child("libm.so.6", -ELIBBAD) == 0);
}
