// SPDX-License-Identifier: BSD-3-Clause
#include "lex/lex.h"

#include <algorithm>
#include <utility>

#include "source/similar.h"

namespace splitcc {
namespace {

struct Keyword {
    std::string_view text;
    Tok kind;
};

constexpr Keyword kKeywords[] = {
    {"auto", Tok::KwAuto},
    {"break", Tok::KwBreak},
    {"case", Tok::KwCase},
    {"char", Tok::KwChar},
    {"const", Tok::KwConst},
    {"__const", Tok::KwConst},
    {"__const__", Tok::KwConst},
    {"continue", Tok::KwContinue},
    {"default", Tok::KwDefault},
    {"do", Tok::KwDo},
    {"double", Tok::KwDouble},
    {"else", Tok::KwElse},
    {"enum", Tok::KwEnum},
    {"extern", Tok::KwExtern},
    {"float", Tok::KwFloat},
    {"for", Tok::KwFor},
    {"goto", Tok::KwGoto},
    {"if", Tok::KwIf},
    {"inline", Tok::KwInline},
    {"__inline", Tok::KwInline},
    {"__inline__", Tok::KwInline},
    {"int", Tok::KwInt},
    {"long", Tok::KwLong},
    {"register", Tok::KwRegister},
    {"restrict", Tok::KwRestrict},
    {"__restrict", Tok::KwRestrict},
    {"__restrict__", Tok::KwRestrict},
    {"return", Tok::KwReturn},
    {"short", Tok::KwShort},
    {"signed", Tok::KwSigned},
    {"__signed", Tok::KwSigned},
    {"__signed__", Tok::KwSigned},
    {"sizeof", Tok::KwSizeof},
    {"static", Tok::KwStatic},
    {"struct", Tok::KwStruct},
    {"switch", Tok::KwSwitch},
    {"typedef", Tok::KwTypedef},
    {"union", Tok::KwUnion},
    {"unsigned", Tok::KwUnsigned},
    {"void", Tok::KwVoid},
    {"volatile", Tok::KwVolatile},
    {"__volatile", Tok::KwVolatile},
    {"__volatile__", Tok::KwVolatile},
    {"while", Tok::KwWhile},
    {"_Alignas", Tok::KwAlignas},
    {"_Alignof", Tok::KwAlignof},
    {"__alignof", Tok::KwAlignof},
    {"__alignof__", Tok::KwAlignof},
    {"_Atomic", Tok::KwAtomic},
    {"_Bool", Tok::KwBool},
    {"_Complex", Tok::KwComplex},
    {"__complex", Tok::KwComplex},
    {"__complex__", Tok::KwComplex},
    {"_Generic", Tok::KwGeneric},
    {"_Noreturn", Tok::KwNoreturn},
    {"_Static_assert", Tok::KwStaticAssert},
    {"_Thread_local", Tok::KwThreadLocal},
    {"__thread", Tok::KwThreadLocal},
    {"__attribute__", Tok::KwAttribute},
    {"__attribute", Tok::KwAttribute},
    {"asm", Tok::KwAsm},
    {"__asm", Tok::KwAsm},
    {"__asm__", Tok::KwAsm},
    {"typeof", Tok::KwTypeof},
    {"__typeof", Tok::KwTypeof},
    {"__typeof__", Tok::KwTypeof},
    {"__extension__", Tok::KwExtension},
    {"__label__", Tok::KwLabel},
    {"__real", Tok::KwReal},
    {"__real__", Tok::KwReal},
    {"__imag", Tok::KwImag},
    {"__imag__", Tok::KwImag},
    {"__auto_type", Tok::KwAutoType},
    {"__int128", Tok::KwInt128},
    {"_Float16", Tok::KwFloatN},
    {"_Float32", Tok::KwFloatN},
    {"_Float64", Tok::KwFloatN},
    {"_Float128", Tok::KwFloatN},
    {"_Float32x", Tok::KwFloatN},
    {"_Float64x", Tok::KwFloatN},
    {"__float128", Tok::KwFloatN},
    {"__float80", Tok::KwFloatN},
    {"__ibm128", Tok::KwFloatN},
    {"__bf16", Tok::KwFloatN},
    {"_Decimal32", Tok::KwFloatN},
    {"_Decimal64", Tok::KwFloatN},
    {"_Decimal128", Tok::KwFloatN},
    {"__builtin_va_arg", Tok::KwVaArg},
    {"__builtin_offsetof", Tok::KwOffsetof},
    {"__builtin_types_compatible_p", Tok::KwTypesCompatible},
    {"__builtin_choose_expr", Tok::KwChooseExpr},
    {"__builtin_convertvector", Tok::KwConvertVector},
};

} // namespace

Names::Names()
{
    for (const Keyword &keyword : kKeywords)
        intern(keyword.text)->keyword = keyword.kind;
}

Name *Names::intern(std::string_view text)
{
    auto [entry, fresh] = table_.try_emplace(text, nullptr);
    if (fresh) {
        storage_.push_back({text});
        entry->second = &storage_.back();
    }
    return entry->second;
}

Name *Names::intern_decoded(std::string text)
{
    decoded_.push_back(std::move(text));
    return intern(decoded_.back());
}

std::string Names::similar(const Name *name, bool keywords, bool (*counts)(const Name &)) const
{
    std::string_view text = name->text;
    size_t best = edits_too_many(text);
    std::string found;
    for (const Name &other : storage_) {
        bool means_something = counts(other) || (keywords && other.keyword != Tok::Ident &&
                                                 !other.text.starts_with('_'));
        size_t longer = std::max(other.text.size(), text.size());
        size_t shorter = std::min(other.text.size(), text.size());
        if (!means_something || &other == name || longer - shorter >= best)
            continue;
        if (size_t d = edits(text, other.text); d < best) {
            best = d;
            found = other.text;
        }
    }
    return found;
}

const Symbol *Names::declared(std::string_view text) const
{
    auto entry = table_.find(text);
    return entry != table_.end() ? entry->second->ordinary : nullptr;
}

void Names::forget_keyword(std::string_view text)
{
    intern(text)->keyword = Tok::Ident;
}

} // namespace splitcc
