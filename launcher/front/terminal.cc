// SPDX-License-Identifier: BSD-3-Clause

#include "front/terminal.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"

namespace unetrun {

namespace {

bool same_file(int a, int b)
{
    struct stat first, second;
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

} // namespace

Terminal::Terminal(Mailbox &mailbox, bool tagged, const std::vector<std::uint32_t> &only,
                   OnTaken on_taken, OnBroken on_broken)
    : on_taken_(std::move(on_taken)), on_broken_(std::move(on_broken)),
      one_file_(same_file(STDOUT_FILENO, STDERR_FILENO)), only_(only.begin(), only.end()),
      tagged_(tagged), mergers_{LineMerger(tagged), LineMerger(tagged)}
{
    for (auto *sink : {&sinks_[0], &sinks_[1], &file_sink_})
        *sink = std::make_unique<Sink>(mailbox, [this](const Written &w) { on_written(w); });
}

void Terminal::put(std::uint32_t node, const Output &output)
{
    const auto size = static_cast<std::uint32_t>(output.bytes.size());
    const int fd = output.stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
    if (broken_[fd - 1] || !is_shown(output.rank))
        return on_taken_(node, size);
    if (!files_.empty())
        return put_to_file(node, output);
    std::string text =
        mergers_[index(fd)].merge(output.rank, static_cast<unsigned>(output.stream), output.bytes);
    sinks_[index(fd)]->put({fd, "", std::move(text), node, size});
}

void Terminal::put_to_file(std::uint32_t node, const Output &output)
{
    const auto size = static_cast<std::uint32_t>(output.bytes.size());
    const std::string &file = files_[output.rank];
    LineMerger &merger = file_mergers_.try_emplace(file, tagged_).first->second;
    if (file_broken_)
        return on_taken_(node, size);
    std::string text =
        merger.merge(output.rank, static_cast<unsigned>(output.stream), output.bytes);
    file_sink_->put({-1, file, std::move(text), node, size});
}

void Terminal::say(const std::string &text)
{
    constexpr int fd = STDERR_FILENO;
    if (!broken_[fd - 1])
        sinks_[index(fd)]->put(
            {fd, "", mergers_[index(fd)].merge_own("unetrun: " + printable(text)), 0, 0});
}

void Terminal::on_written(const Written &written)
{
    if (written.credit > 0)
        on_taken_(written.node, written.credit);
    if (!written.file.empty())
        return on_file_broken(written.file, written.error);
    bool &broken = broken_[written.fd - 1];
    if (written.error == 0 || broken)
        return;
    broken = true;
    if (written.fd == STDOUT_FILENO)
        on_broken_("", written.error);
}

void Terminal::on_file_broken(const std::string &file, int error)
{
    if (error == 0 || file_broken_)
        return;
    file_broken_ = true;
    on_broken_(file, error);
}

} // namespace unetrun
