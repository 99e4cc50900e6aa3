// SPDX-License-Identifier: BSD-3-Clause
//
// Objects that are released in the opposite order of their making.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

// The address sanitizer reports uses of released objects.
#if defined(__SANITIZE_ADDRESS__)
#define SPLITCC_SEES_RELEASED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPLITCC_SEES_RELEASED 1
#endif
#endif
#ifdef SPLITCC_SEES_RELEASED
#include <sanitizer/asan_interface.h>
#endif

namespace splitcc {

// A pool keeps objects where they are made; their addresses do not change.
template <class T> class Pool {
public:
    Pool() = default;
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;
    ~Pool()
    {
        release(0);
        for (T *block : blocks_) {
            unpoison(block, kBlock);
            std::allocator<T>().deallocate(block, kBlock);
        }
    }

    template <class... Arguments> T *make(Arguments &&...arguments)
    {
        if (size_ == blocks_.size() * kBlock)
            blocks_.push_back(std::allocator<T>().allocate(kBlock));
        unpoison(at(size_), 1);
        T *object = std::construct_at(at(size_), std::forward<Arguments>(arguments)...);
        size_++;
        return object;
    }

    size_t size() const { return size_; }
    // Releases all but the first `size` objects.  Their memory is used for the next ones.
    void release(size_t size)
    {
        while (size_ > size) {
            std::destroy_at(at(--size_));
            poison(at(size_));
        }
    }

private:
    static constexpr size_t kBlock = 128;
#ifdef SPLITCC_SEES_RELEASED
    static void poison(T *object)
    {
        ASAN_POISON_MEMORY_REGION(object, sizeof(T));
    }
    static void unpoison(T *first, size_t n)
    {
        ASAN_UNPOISON_MEMORY_REGION(first, n * sizeof(T));
    }
#else
    static void poison(T *)
    {
    }
    static void unpoison(T *, size_t)
    {
    }
#endif

    T *at(size_t i) const
    {
        return blocks_[i / kBlock] + i % kBlock;
    }

    std::vector<T *> blocks_;
    size_t size_ = 0;
};

} // namespace splitcc
