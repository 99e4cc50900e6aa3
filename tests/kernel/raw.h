// SPDX-License-Identifier: BSD-3-Clause
//
// raw.h - an endpoint of the kernel module without the library: whatever its user may write is
// there to be written.
#ifndef KERNEL_RAW_H
#define KERNEL_RAW_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unet/unet_fe.h>
#include <unet/unet_frame.h>
#include <unet/unet_ring.h>
#include <vector>

// The result of a system call: 0 or more, or the negative errno.
long ioctl_of(int fd, unsigned long command, unsigned long argument);
long ioctl_of(int fd, unsigned long command, void *argument);

// An open file descriptor, closed at the end of its scope.
class File {
public:
    explicit File(int number = -1) : fd(number) {}
    ~File() { close(); }
    File(File &&other) : fd(other.release()) {}
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    operator int() const { return fd; }
    int release();
    void close();

private:
    int fd;
};

// /dev/unet, opened; REQUIREs success.
File open_device();

// What UNET_FE_CREATE needs for a small endpoint on the loopback interface.
unet_fe_create small();

struct Raw {
    explicit Raw(const unet_fe_create &wanted = small());
    ~Raw() { end(); }
    Raw(const Raw &) = delete;
    Raw &operator=(const Raw &) = delete;

    unet_ring_shared *ring(uint64_t offset) const
    {
        return reinterpret_cast<unet_ring_shared *>(area + offset);
    }
    uint8_t *segment() const { return area + layout.segment; }
    unet_fe_shared *shared() const { return reinterpret_cast<unet_fe_shared *>(area); }
    uint64_t counter(unet_fe_counter which) const { return shared()->counter[which]; }
    unet_ring_shared *in(uint32_t channel) const
    {
        return ring(layout.receive + (channel - 1) * layout.receive_stride);
    }

    // Fill the next slot of the send queue with the descriptor.
    void push(const unet_desc &desc);
    long trap() { return ioctl_of(fd, UNET_FE_SEND, 0ul); }
    // Give a buffer, whatever these numbers are.
    void give(uint32_t offset, uint32_t length);
    // The error of the next completion, 0 if there is none.
    uint32_t error();
    // The next message of a channel, its kind UNET_EMPTY if there is none.
    unet_desc next(uint32_t channel);

    long connect(unet_fe_connect request);
    // Close the file and unmap the memory, which keeps the file.
    void end();

    File fd;
    unet_fe_create layout;
    uint8_t *area = nullptr;
    uint32_t sent = 0, given = 0, errors = 0;
    std::vector<uint32_t> taken; // by channel
};

// Two endpoints, and a channel from one to the other that is open on both sides, number 1.
struct RawPair {
    explicit RawPair(const unet_fe_create &wanted = small());

    Raw a, b;
    unet_fe_connect to_b, to_a;
};

// Tells until channel 1 is open on both sides; REQUIREs that it is.
void open_both(Raw &a, Raw &b);

// What `to` needs to reach `from`, with keys made of the number.
unet_fe_connect request_for(const Raw &to, uint64_t number, uint32_t life);

unet_desc inline_desc(uint16_t channel, const std::string &text);
unet_desc pieces_desc(uint16_t channel, std::vector<unet_piece> pieces);

// Waits until the endpoint's counter is at least that, or a second is over.  Returns it.
uint64_t wait_for(const Raw &ep, unet_fe_counter which, uint64_t value);

// Runs the attack as the user nobody, with the device open to all meanwhile or not, and returns
// what it returns, negated errno values up to 255.
int as_nobody(bool may_open, const std::function<int()> &attack);

// Sets a parameter of the module.
void set_parameter(const char *name, const char *value);

// A file's text, without the line's end; empty if there is none.
std::string text_of(const std::string &path);

#endif
