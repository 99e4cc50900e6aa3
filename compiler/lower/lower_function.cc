// SPDX-License-Identifier: BSD-3-Clause
//
// Function definitions, and what is emitted beside splitc_main and extern inline functions.
#include "lower/lower.h"

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
    if (!translated_ && item.declarator.name && item.declarator.name->text == "splitc_main")
        rope += entry(d);
    return rope;
}

// Returns the `extern` token of an `extern inline` definition without attributes, or UINT32_MAX.
uint32_t Lower::extern_inline(const Declaration *d) const
{
    const InitDeclarator &item = d->declarators[0];
    uint32_t found = UINT32_MAX;
    if (d->specifiers.storage != Storage::Extern || !d->specifiers.is_inline ||
        item.after_first < item.after_last)
        return found;
    for (auto [first, last] : d->specifiers.not_type) {
        if (tokens_[first].kind == Tok::KwAttribute)
            return UINT32_MAX;
        if (tokens_[first].kind == Tok::KwExtern)
            found = first;
    }
    return found;
}

void Lower::define_inlines(const Ast &ast, bool by_assembler)
{
    std::map<const Name *, int> definitions;
    for (const Node *n : ast.unit)
        if (const Declaration *d = as_definition(n))
            definitions[d->declarators[0].declarator.name]++;
    for (const Node *n : ast.unit) {
        const Declaration *d = as_definition(n);
        if (!d || definitions[d->declarators[0].declarator.name] > 1)
            continue;
        uint32_t at = extern_inline(d);
        if (at == UINT32_MAX || source_.position(tokens_[at].offset).system)
            continue;
        std::string name(d->declarators[0].declarator.name->text);
        substitutions_[at] = {at + 1, ""};
        // gcc neither inlines a function with the attribute weak nor lets an inline one have it.
        if (!by_assembler)
            for (auto [first, last] : d->specifiers.not_type)
                if (tokens_[first].kind == Tok::KwInline)
                    substitutions_[first] = {first + 1, ""};
        const bool first_goes = substitutions_.contains(d->first);
        substitutions_[d->first] = {first_goes ? d->first + 1 : d->first,
                                    by_assembler ? "__asm__(\".weak " + name + "\");"
                                                 : "__attribute__((weak))"};
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
