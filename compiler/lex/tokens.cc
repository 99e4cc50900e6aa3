// SPDX-License-Identifier: BSD-3-Clause
#include "lex/lex.h"

#include <cstring>

#include "lex/lexer.h"

namespace splitcc {

Tokens::Tokens(const Source &source, Names &names, Diagnostics &diag)
    : text_(source.text()), names_(names), diag_(diag)
{
    select(0);
}

void Tokens::select(uint32_t block)
{
    while (blocks_.size() <= block) {
        blocks_.push_back({blocks_.empty() ? 0 : blocks_.back().end, 0, true, nullptr});
        make(static_cast<uint32_t>(blocks_.size() - 1));
    }
    if (!blocks_[block].tokens) {
        most_++; // this bounds how often text is scanned again
        make(block);
    }
    blocks_[block].used = true;
    first_ = block * kBlock;
    tokens_ = blocks_[block].tokens.get();
}

void Tokens::make(uint32_t number)
{
    std::unique_ptr<Token[]> tokens = room_for(number);
    Block &block = blocks_[number];
    const bool fresh = block.end == 0;
    block.end =
        read_tokens(text_, block.begin, names_, fresh ? &diag_ : nullptr, tokens.get(), kBlock);
    for (uint32_t i = 0; fresh && i < kBlock; i++)
        note(number * kBlock + i, tokens[i]);
    block.tokens = std::move(tokens);
}

// Returns memory for a block: new, or that of a block which has not been used lately.
std::unique_ptr<Token[]> Tokens::room_for(uint32_t block)
{
    if (kept_.size() < most_) {
        kept_.push_back(block);
        return std::make_unique<Token[]>(kBlock);
    }
    for (;; blocks_[kept_[hand_]].used = false) {
        hand_ = (hand_ + 1) % kept_.size();
        Block &old = blocks_[kept_[hand_]];
        if (old.used)
            continue;
        kept_[hand_] = block;
        return std::move(old.tokens);
    }
}

void Tokens::note(uint32_t number, const Token &token)
{
    if (token.kind == Tok::End && size_ == 0)
        size_ = number + 1;
    if (token.kind == Tok::String && std::memchr(text_.data() + token.offset, '\n', token.length))
        broken_strings_.push_back(number);
}

} // namespace splitcc
