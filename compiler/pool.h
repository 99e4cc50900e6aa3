// SPDX-License-Identifier: BSD-3-Clause
//
// Objects in the order in which they were made, and released in the opposite order.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace splitcc {

// They do not move.
template <class T> class Pool {
public:
    Pool() = default;
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;
    ~Pool()
    {
        release(0);
        for (T *block : blocks_)
            std::allocator<T>().deallocate(block, kBlock);
    }

    template <class... Arguments> T *make(Arguments &&...arguments)
    {
        if (size_ == blocks_.size() * kBlock)
            blocks_.push_back(std::allocator<T>().allocate(kBlock));
        T *object = std::construct_at(at(size_), std::forward<Arguments>(arguments)...);
        size_++;
        return object;
    }

    size_t size() const { return size_; }
    // All but the first so many; their memory is for the next ones.
    void release(size_t size)
    {
        while (size_ > size)
            std::destroy_at(at(--size_));
    }

private:
    static constexpr size_t kBlock = 128;
    T *at(size_t i) const { return blocks_[i / kBlock] + i % kBlock; }

    std::vector<T *> blocks_;
    size_t size_ = 0;
};

} // namespace splitcc
