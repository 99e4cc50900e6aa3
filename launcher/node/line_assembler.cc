// SPDX-License-Identifier: BSD-3-Clause

#include "node/line_assembler.h"

namespace unetrun {

void LineAssembler::feed(std::string_view bytes, const Emit &emit)
{
    const std::size_t last = bytes.rfind('\n');
    if (last != std::string_view::npos) {
        const std::string_view whole = bytes.substr(0, last + 1);
        if (partial_.empty()) {
            emit(whole);
        } else {
            partial_ += whole;
            finish(emit);
        }
        bytes.remove_prefix(last + 1);
    }
    partial_ += bytes;
    if (!hold_ || partial_.size() >= line_max)
        finish(emit);
}

void LineAssembler::finish(const Emit &emit)
{
    if (partial_.empty())
        return;
    emit(partial_);
    partial_.clear();
}

} // namespace unetrun
