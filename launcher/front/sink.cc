// SPDX-License-Identifier: BSD-3-Clause

#include "front/sink.h"

#include <fcntl.h>

#include "common/fd.h"
#include "front/output_files.h"

namespace unetrun {

namespace {

constexpr std::size_t batch_max = 64 << 10; // small pieces are written together up to this size

bool same_target(const Piece &a, const Piece &b)
{
    return a.fd == b.fd && a.file == b.file && a.node == b.node;
}

int write_all(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t n = write(fd, bytes.data(), bytes.size());
        if (n >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(n));
        } else if (errno == EAGAIN) { // another process has made the file non-blocking
            pollfd entry{fd, POLLOUT, 0};
            poll(&entry, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

// A file is open only meanwhile: there may be more ranks than descriptors.
int write_piece(const Piece &piece)
{
    if (piece.file.empty())
        return write_all(piece.fd, piece.text);
    Fd file;
    const int error = open_output_file(piece.file, file);
    return error ? error : write_all(file.get(), piece.text);
}

} // namespace

Sink::Sink(Mailbox &mailbox, OnWritten on_written)
    : mailbox_(mailbox), on_written_(std::move(on_written)), thread_([this] { work(); })
{
}

Sink::~Sink()
{
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void Sink::put(Piece piece)
{
    const std::lock_guard lock(mutex_);
    if (!pieces_.empty() && same_target(pieces_.back(), piece) &&
        pieces_.back().text.size() + piece.text.size() <= batch_max) {
        pieces_.back().text += piece.text;
        pieces_.back().credit += piece.credit;
        return;
    }
    pieces_.push_back(std::move(piece));
    outstanding_++;
    changed_.notify_one();
}

std::optional<Piece> Sink::take()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_ || !pieces_.empty(); });
    if (pieces_.empty())
        return std::nullopt;
    Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
}

void Sink::work()
{
    while (const std::optional<Piece> piece = take()) {
        const Written written{piece->fd, piece->file, piece->node, piece->credit,
                              write_piece(*piece)};
        mailbox_.post([this, written] {
            outstanding_--;
            on_written_(written);
        });
    }
}

} // namespace unetrun
