// SPDX-License-Identifier: BSD-3-Clause
//
// raw.h - a client of unetni without the library: whatever it may write is there to be written.
#ifndef UNETNI_RAW_H
#define UNETNI_RAW_H

#include <cstdint>
#include <functional>
#include <string>
#include <unet/unet_frame.h>
#include <unet/unet_ring.h>
#include <unet/unet_service.h>
#include <vector>

// What UNET_FE_CREATE needs for a small endpoint.
unet_fe_create small();

class Raw {
public:
    // Connects, and creates nothing.  `pump` runs while an answer is awaited.
    explicit Raw(const std::string &path, std::function<void()> pump = nullptr);
    ~Raw();
    Raw(const Raw &) = delete;
    Raw &operator=(const Raw &) = delete;

    // What a request is answered with; the message is the answer.  -ENETDOWN: not at all.
    int ask(unet_service_message &message);
    int ask(uint32_t command, uint64_t channel);
    int connect(const unet_fe_connect &request);
    bool send(const void *bytes, size_t length) const;
    void tell(uint64_t channel) const;
    bool ended() const; // by the service

    // Asks for an endpoint; maps its memory if that is granted.
    int create(const unet_fe_create &wish = small());

    unet_ring_shared *ring(uint64_t offset) const
    {
        return reinterpret_cast<unet_ring_shared *>(area + offset);
    }
    unet_ring_shared *in(uint32_t channel) const
    {
        return ring(layout.receive + (channel - 1) * layout.receive_stride);
    }
    unet_fe_shared *shared() const { return reinterpret_cast<unet_fe_shared *>(area); }
    uint8_t *segment() const { return area + layout.segment; }
    uint64_t counter(unet_fe_counter which) const;
    uint8_t state(uint32_t channel) const;

    // Fills the next slot of the send queue, and rings if need be.
    void push(const unet_desc &desc);
    void give(uint32_t offset, uint32_t length);
    // The error of the next completion, waiting for it.
    uint32_t error();
    // The next message of a channel, waiting for it.  If none comes, the test fails and says what
    // the service has counted, and whether a command wakes it up to one that it has overlooked.
    unet_desc next(uint32_t channel);

    unet_fe_create layout{};
    uint8_t *area = nullptr;
    int fd = -1, memory = -1, bell[2] = {-1, -1};

private:
    // All counters, in the order of unet_fe_counter, and the state of a channel.
    std::string counters(uint32_t channel) const;
    bool wait(const std::function<bool()> &condition) const;

    std::function<void()> pump_;
    uint32_t *asleep_ = nullptr;
    uint32_t sent_ = 0, given_ = 0, errors_ = 0;
    std::vector<uint32_t> taken_; // by channel
};

unet_desc inline_desc(uint16_t channel, const std::string &text);
unet_desc pieces_desc(uint16_t channel, const std::vector<unet_piece> &pieces);

// What `to` needs to reach `from`, with keys made of the number.
unet_fe_connect request_for(const unet_fe_create &to, uint64_t number, uint32_t life);

// Opens channel 1 from one to the other on both sides; REQUIREs that it opens.
void open_both(Raw &a, Raw &b);

#endif
