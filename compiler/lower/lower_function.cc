// SPDX-License-Identifier: BSD-3-Clause
//
// Function definitions, and what is emitted beside splitc_main and inline functions.
#include "lower/lower.h"

#include <algorithm>
#include <map>

namespace splitcc {
namespace {

const Declaration *as_definition(const Node *n)
{
    if (n->node != NodeKind::Declaration)
        return nullptr;
    const auto *d = static_cast<const Declaration *>(n);
    return d->is_definition ? d : nullptr;
}

} // namespace

Rope Lower::function_definition(const Declaration *d)
{
    const InitDeclarator &item = d->declarators[0];
    Splice splice(*this, d->first);
    const Specifiers &s = d->specifiers;
    Rope defined; // a struct, union or enum that the head defines
    if (item.declarator.far && (s.body || s.enum_body)) {
        forget_typedef(s.type);
        defined = specifiers(s, false) + "; ";
    }
    if (item.declarator.far)
        splice.replace(d->first, item.declarator.last,
                       std::move(defined) + not_type(s) + far_type(item.declarator) +
                           declarator(item.declarator));
    else if (d->specifiers.touched || item.declarator.touched)
        splice.replace(d->first, item.declarator.last,
                       specifiers(d->specifiers, true) + " " + declarator(item.declarator));
    for (const Declaration *param : d->old_style)
        splice.child(param);
    splice.child(d->body);
    Rope rope = splice.finish(d->last);
    if (!translated_ && item.declarator.name && item.declarator.name->text == "splitc_main") {
        pending_ += prototype(d);
        rope += entry(d);
    }
    return rope;
}

// Returns a prototype, so that the C compiler misses none, as it does not of main; nothing if an
// earlier declaration may be one, or parameters in the old style are promoted.
Rope Lower::prototype(const Declaration *d)
{
    const Symbol &fn = *d->declarators[0].symbol;
    if (fn.redeclares || fn.storage != Storage::None)
        return {};
    Rope params;
    for (const Type *t : fn.type->params) {
        if (!fn.type->prototype && t->is_integer() && t->kind != TypeKind::Int)
            return {};
        params += (params.empty() ? "" : ", ") + type(t);
    }
    if (params.empty())
        params = "void";
    return declare(fn.type->base, "splitc_main(" + std::move(params) + ")") + "; ";
}

// Returns whether the definition, without attributes, is for inlining alone: `inline` without
// `extern`, or in GNU's meaning of old with it.
bool Lower::is_for_inlining(const Declaration *d, bool gnu) const
{
    const InitDeclarator &item = d->declarators[0];
    const Specifiers &s = d->specifiers;
    return s.is_inline && s.storage == (gnu ? Storage::Extern : Storage::None) &&
           item.after_first == item.after_last &&
           std::ranges::none_of(s.not_type, [&](const auto &part) {
               return tokens_[part.first].kind == Tok::KwAttribute;
           });
}

void Lower::define_inlines(const Ast &ast, bool gnu, Weak how)
{
    std::map<const Name *, int> definitions;
    for (const Node *n : ast.unit)
        if (const Declaration *d = as_definition(n))
            definitions[d->declarators[0].declarator.name]++;
    for (const Node *n : ast.unit) {
        const Declaration *d = as_definition(n);
        if (!d || definitions[d->declarators[0].declarator.name] > 1 || !is_for_inlining(d, gnu) ||
            source_.position(tokens_[d->first].offset).system)
            continue;
        for (auto [first, last] : d->specifiers.not_type)
            if (tokens_[first].kind == Tok::KwExtern ||
                (how == Weak::NotInline && tokens_[first].kind == Tok::KwInline))
                substitutions_[first] = {first + 1, ""};
        const std::string name(d->declarators[0].declarator.name->text);
        std::string text = how == Weak::ByAssembler ? "__asm__(\".weak " + name + "\"); "
                                                    : "__attribute__((weak)) ";
        if (!gnu && how != Weak::NotInline)
            text += "extern ";
        const bool first_goes = substitutions_.contains(d->first);
        substitutions_[d->first] = {first_goes ? d->first + 1 : d->first, text};
    }
}

// The runtime calls splitc_entry, which calls splitc_main with the parameters that it has.
Rope Lower::entry(const Declaration *d)
{
    static constexpr const char *passed[] = {"argc", "argv", "splitc_environment"};
    const std::vector<const Type *> &params = d->declarators[0].symbol->type->params;
    Rope call = "splitc_main(";
    for (size_t i = 0; i < params.size() && i < std::size(passed); i++) {
        const bool cast = i > 0 && params[i]->is_integer();
        call += std::string(i ? ", " : "") +
                (cast ? "(int)(long)"
                 : i  ? "(void *)"
                      : "") +
                passed[i];
    }
    bool is_void = d->declarators[0].type->base->kind == TypeKind::Void;
    return " int splitc_entry(int argc, char **argv) { (void)argc; (void)argv; " +
           (is_void ? std::move(call) + "); return 0; }" : "return " + std::move(call) + "); }");
}

} // namespace splitcc
