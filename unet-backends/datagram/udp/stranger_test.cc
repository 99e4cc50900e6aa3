// SPDX-License-Identifier: BSD-3-Clause
//
// Who sees what goes by, keys and all, and says it again: from elsewhere, later, or not quite.
#include "datagram/udp/puppet.h"

namespace {

// An endpoint, a peer that it calls, and somebody else on this machine.
struct Scene {
    static constexpr uint64_t TAG = 1;
    Endpoint e;
    Puppet peer{e}, stranger{e};
    uint16_t channel = 0;

    Secrets open()
    {
        channel = peer.join(e, TAG);
        return peer.secrets();
    }

    // All that was said by him has come.  Returns how many frames were for no channel so far.
    uint64_t heard(Puppet &who)
    {
        constexpr uint8_t no_kind = 77;
        const uint64_t before = e->stats.malformed;

        who.say(no_kind, 0, 0, 0);
        REQUIRE(eventually([&] { return unet_progress(e), e->stats.malformed > before; }));
        return e->stats.foreign;
    }
};

} // namespace

TEST_CASE("frames about a channel count from its peer's address alone")
{
    const uint8_t kind =
        GENERATE(UNET_FRAME_OPEN, UNET_FRAME_OPENED, UNET_FRAME_CLOSE, UNET_FRAME_ALIVE);
    Scene s;
    const Secrets known = s.open();
    const uint32_t life = kind == UNET_FRAME_OPEN ? 0 : known.life;
    const uint64_t before = s.heard(s.stranger);

    INFO("kind " << int{kind});
    s.stranger.say(kind, known.to_endpoint, life, Puppet::life);
    CHECK(s.heard(s.stranger) == before + 1);
    CHECK(unet_channel_state(s.e, s.channel) == UNET_OPEN);
    s.peer.serve();
    CHECK(s.peer.answers == 0);
    s.peer.say(kind, known.to_endpoint, life, Puppet::life);
    CHECK(s.heard(s.peer) == before + 1);
    CHECK(unet_channel_state(s.e, s.channel) == (kind == UNET_FRAME_CLOSE ? UNET_DEAD : UNET_OPEN));
}

TEST_CASE("a channel opens when its peer's address answers")
{
    Scene s;

    s.peer.mute = true;
    s.channel = s.peer.call(s.e, Scene::TAG);
    const uint64_t before = s.heard(s.stranger);
    s.peer.serve();
    const Secrets known = s.peer.secrets();
    s.stranger.say(UNET_FRAME_OPENED, known.to_endpoint, known.life, Puppet::life);
    CHECK(s.heard(s.stranger) == before + 1);
    CHECK(unet_channel_state(s.e, s.channel) == UNET_CONNECTING);
    s.peer.say(UNET_FRAME_OPENED, known.to_endpoint, known.life + 1,
               Puppet::life); // of another life
    CHECK(s.heard(s.peer) == before + 2);
    CHECK(unet_channel_state(s.e, s.channel) == UNET_CONNECTING);
    s.peer.say(UNET_FRAME_OPENED, known.to_endpoint, known.life, Puppet::life);
    s.heard(s.peer);
    CHECK(unet_channel_state(s.e, s.channel) == UNET_OPEN);
}

TEST_CASE("that a channel is gone is believed to who repeats all of the question")
{
    struct Answer {
        const char *what;
        uint64_t key;
        uint32_t number, life;
        bool by_peer;
    };
    Scene s;
    const Secrets known = s.open();
    const uint32_t life = Puppet::life;
    uint64_t foreign = s.heard(s.peer);

    for (const Answer &wrong : {
             Answer{"no key", 0, s.channel, life, true},
             Answer{"a bit of the key", known.to_us ^ 1, s.channel, life, true},
             Answer{"another bit", known.to_us ^ uint64_t{1} << 63, s.channel, life, true},
             Answer{"the other direction's key", known.to_endpoint, s.channel, life, true},
             Answer{"another life", known.to_us, s.channel, life + 1, true},
             Answer{"another channel", known.to_us, s.channel + 1u, life, true},
             Answer{"no channel", known.to_us, 0, life, true},
             Answer{"a channel beyond all", known.to_us, s.channel + 65536u, life, true},
             Answer{"another address", known.to_us, s.channel, life, false},
         }) {
        Puppet &who = wrong.by_peer ? s.peer : s.stranger;

        INFO(wrong.what);
        who.say(UNET_FRAME_GONE, wrong.key, wrong.number, wrong.life);
        CHECK(s.heard(who) == ++foreign);
        CHECK(unet_channel_state(s.e, s.channel) == UNET_OPEN);
    }
    s.peer.say(UNET_FRAME_GONE, known.to_us, s.channel, life);
    CHECK(s.heard(s.peer) == foreign);
    CHECK(unet_channel_state(s.e, s.channel) == UNET_DEAD);
}

TEST_CASE("who asks for a channel that is none of ours is told that it is gone")
{
    constexpr uint64_t key = 0x123456789abcdef0;
    Scene s;

    s.stranger.say(UNET_FRAME_ALIVE, key, 5, 9);
    s.heard(s.stranger);
    REQUIRE(eventually([&] { return s.stranger.serve(), !s.stranger.gone.empty(); }));
    CHECK(s.stranger.gone.size() == 1);
    CHECK(s.stranger.gone[0].key == key);
    CHECK(s.stranger.gone[0].life == 9);
    CHECK(s.stranger.gone[0].user == 5);
}

TEST_CASE("an end of another life than the peer's ends nothing")
{
    Scene s;
    const Secrets known = s.open();

    s.peer.say(UNET_FRAME_CLOSE, known.to_endpoint, known.life, Puppet::life + 1);
    s.heard(s.peer);
    CHECK(unet_channel_state(s.e, s.channel) == UNET_OPEN);
    s.peer.say(UNET_FRAME_CLOSE, known.to_endpoint, known.life, Puppet::life);
    s.heard(s.peer);
    CHECK(unet_channel_state(s.e, s.channel) == UNET_DEAD);
}

TEST_CASE("messages count from the channel's peer, and of this opening alone")
{
    Scene s;
    const Secrets before = s.open();

    unet_disconnect(s.e, s.channel);
    const Secrets now = s.open();
    REQUIRE(now.to_endpoint == before.to_endpoint);
    REQUIRE(now.life != before.life);
    const uint64_t foreign = s.heard(s.peer);
    SECTION("an earlier one's is nobody's")
    {
        s.peer.say(UNET_FRAME_INLINE, before.to_endpoint, before.life, 5);
    }
    SECTION("another address' is nobody's")
    {
        s.stranger.say(UNET_FRAME_INLINE, now.to_endpoint, now.life, 5);
        s.heard(s.stranger);
    }
    SECTION("the other direction's is nobody's")
    {
        s.peer.say(UNET_FRAME_INLINE, now.to_us, now.life, 5);
    }
    CHECK(s.heard(s.peer) == foreign + 1);
    CHECK(take(s.e).kind == UNET_EMPTY);
    s.peer.say(UNET_FRAME_INLINE, now.to_endpoint, now.life, 6);
    CHECK(await(s.e).user == 6);
}

TEST_CASE("an inline message that is longer than a descriptor is malformed")
{
    const uint16_t length = GENERATE(UNET_INLINE_MAX + 1, UNET_INLINE_MAX + 16, 2000, 60000);
    Scene s;
    const Secrets known = s.open();
    const uint64_t before = s.e->stats.malformed, foreign = s.e->stats.foreign;

    INFO(length << " bytes");
    s.peer.say(UNET_FRAME_INLINE, known.to_endpoint, known.life, 5, length);
    s.peer.say(UNET_FRAME_INLINE, 0, 0, 0);
    REQUIRE(eventually([&] { return unet_progress(s.e), s.e->stats.foreign > foreign; }));
    CHECK(s.e->stats.malformed == before + 1);
    CHECK(take(s.e).kind == UNET_EMPTY);
    s.peer.say(UNET_FRAME_INLINE, known.to_endpoint, known.life, 6, UNET_INLINE_MAX);
    CHECK(await(s.e).length == UNET_INLINE_MAX);
}
