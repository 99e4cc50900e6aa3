// SPDX-License-Identifier: BSD-3-Clause

#include "common/codec.h"

namespace unetrun {

void Encoder::put_bits(std::uint64_t bits, std::size_t size)
{
    for (; size > 0; size--, bits >>= 8)
        bytes_.push_back(static_cast<char>(bits & 0xff));
}

void Encoder::put(const std::string &text)
{
    put_size(text.size());
    bytes_ += text;
}

std::string_view Decoder::take_bytes(std::size_t count)
{
    good_ = good_ && count <= left_.size();
    const std::string_view piece = left_.substr(0, good_ ? count : 0);
    left_.remove_prefix(piece.size());
    return piece;
}

std::uint64_t Decoder::get_bits(std::size_t size)
{
    std::uint64_t bits = 0;
    int shift = 0;
    for (const char byte : take_bytes(size)) {
        bits |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
        shift += 8;
    }
    return bits;
}

void Decoder::get(std::string &text)
{
    text = take_bytes(get_size());
}

} // namespace unetrun
