// SPDX-License-Identifier: BSD-3-Clause
//
// Values as bytes and back.  Integers are little-endian.  Texts and lists begin with their length
// or count, 32 bits.  A record is a struct with a static function `fields`, which ties its
// fields together; its bytes are those of its fields in that order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace unetrun {

template <class T>
concept IntegerOrEnum = std::is_integral_v<T> || std::is_enum_v<T>;

template <class T>
concept Record = requires(T &record)
{
    T::fields(record);
};

class Encoder {
public:
    template <class... Values> void operator()(const Values &...values) { (put(values), ...); }
    std::string take() { return std::move(bytes_); }

private:
    void put_bits(std::uint64_t bits, std::size_t size);
    void put_size(std::size_t size) { put_bits(size, sizeof(std::uint32_t)); }
    void put(const std::string &text);
    template <IntegerOrEnum T> void put(T value)
    {
        put_bits(static_cast<std::uint64_t>(value), sizeof value);
    }
    template <Record T> void put(const T &record) { std::apply(*this, T::fields(record)); }
    template <class T> void put(const std::vector<T> &list)
    {
        put_size(list.size());
        for (const T &item : list)
            put(item);
    }

    std::string bytes_;
};

// Trusts nothing: where the bytes end too early, values are 0 or empty, and complete() is false.
class Decoder {
public:
    explicit Decoder(std::string_view bytes) : left_(bytes) {}
    template <class... Values> void operator()(Values &...values) { (get(values), ...); }

    // Whether the bytes were enough for all values, and none is left.
    bool complete() const { return good_ && left_.empty(); }

private:
    std::string_view take_bytes(std::size_t count);
    std::uint64_t get_bits(std::size_t size);
    std::uint32_t get_size() { return static_cast<std::uint32_t>(get_bits(sizeof(std::uint32_t))); }
    void get(std::string &text);
    template <IntegerOrEnum T> void get(T &value)
    {
        value = static_cast<T>(get_bits(sizeof value));
    }
    template <Record T> void get(T &record) { std::apply(*this, T::fields(record)); }
    // The list grows with the bytes that are there, so that a wrong count costs no memory.
    template <class T> void get(std::vector<T> &list)
    {
        list.clear();
        for (std::uint32_t count = get_size(); good_ && count > 0; count--) {
            good_ = !left_.empty();
            get(list.emplace_back());
        }
    }

    std::string_view left_;
    bool good_ = true;
};

} // namespace unetrun
