// SPDX-License-Identifier: BSD-3-Clause
#include "lsp/wire.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <poll.h>
#include <string_view>
#include <unistd.h>

namespace splitcc::lsp {
namespace {

// The value of Content-Length among the lines of a header.
size_t content_length(std::string_view header, size_t most)
{
    constexpr std::string_view key = "content-length:";
    std::string lower(header);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    size_t at = lower.find(key);
    if (at == std::string::npos || (at > 0 && lower[at - 1] != '\n'))
        throw WireError("a header without Content-Length");
    size_t length = 0;
    bool digits = false;
    for (at = lower.find_first_not_of(' ', at + key.size());
         at < lower.size() && std::isdigit(static_cast<unsigned char>(lower[at])); at++) {
        digits = true;
        length = length * 10 + static_cast<size_t>(lower[at] - '0');
        if (length > most)
            throw WireError("a message of more than 64 MiB");
    }
    if (!digits)
        throw WireError("Content-Length is no number");
    return length;
}

} // namespace

bool Wire::fill()
{
    char bytes[65536];
    ssize_t n;

    do
        n = ::read(in_, bytes, sizeof bytes);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        buffer_.append(bytes, static_cast<size_t>(n));
    return n > 0;
}

bool Wire::read(std::string &message)
{
    size_t end;

    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
        if (buffer_.size() > kHeaderMost)
            throw WireError("a header that does not end");
        if (!fill())
            return false;
    }
    const size_t length = content_length(std::string_view(buffer_).substr(0, end), kMessageMost);
    while (buffer_.size() < end + 4 + length)
        if (!fill())
            return false;
    message = buffer_.substr(end + 4, length);
    buffer_.erase(0, end + 4 + length);
    return true;
}

bool Wire::ready_within(int ms)
{
    pollfd fd{in_, POLLIN, 0};

    return !buffer_.empty() || poll(&fd, 1, ms) > 0;
}

void Wire::write(const std::string &message)
{
    const std::string all =
        "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;

    for (size_t done = 0; done < all.size();) {
        const ssize_t n = ::write(out_, all.data() + done, all.size() - done);
        if (n < 0 && errno != EINTR)
            throw WireError("the editor does not read");
        done += n > 0 ? static_cast<size_t>(n) : 0;
    }
}

} // namespace splitcc::lsp
