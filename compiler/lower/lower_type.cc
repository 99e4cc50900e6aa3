// SPDX-License-Identifier: BSD-3-Clause
//
// Types as plain C writes them, and the run-time sizes that they hold.
#include "lower/lower.h"

namespace splitcc {
namespace {

std::string_view basic_name(TypeKind kind)
{
    switch (kind) {
    case TypeKind::Void:
        return "void";
    case TypeKind::Bool:
        return "_Bool";
    case TypeKind::Char:
        return "char";
    case TypeKind::SChar:
        return "signed char";
    case TypeKind::UChar:
        return "unsigned char";
    case TypeKind::Short:
        return "short";
    case TypeKind::UShort:
        return "unsigned short";
    case TypeKind::Int:
        return "int";
    case TypeKind::UInt:
        return "unsigned int";
    case TypeKind::Long:
        return "long";
    case TypeKind::ULong:
        return "unsigned long";
    case TypeKind::LLong:
        return "long long";
    case TypeKind::ULLong:
        return "unsigned long long";
    case TypeKind::Int128:
        return "__int128";
    case TypeKind::UInt128:
        return "unsigned __int128";
    case TypeKind::Float:
        return "float";
    case TypeKind::Double:
        return "double";
    case TypeKind::LDouble:
        return "long double";
    default:
        return "int";
    }
}

} // namespace

std::string quals_text(uint8_t quals)
{
    std::string text;
    if (quals & kConst)
        text += "const ";
    if (quals & kVolatile)
        text += "volatile ";
    return text;
}

std::string far_type(Space space)
{
    return space == Space::Spread ? "splitc_spread " : "splitc_global ";
}

std::string far_type(const Declarator &d)
{
    for (const Part &part : d.parts)
        if (part.kind == Part::Spread || part.space != Space::Local)
            return far_type(part.kind == Part::Spread ? Space::Spread : part.space);
    return "splitc_ptr ";
}

Rope Lower::base_name(const Type *t)
{
    switch (t->kind) {
    case TypeKind::Record:
        if (t->record->spelled.empty()) {
            std::string tag = fresh("tag");
            t->record->spelled = (t->record->is_union ? "union " : "struct ") + tag;
            substitutions_[t->record->brace] = {t->record->brace, tag};
        }
        return t->record->spelled;
    case TypeKind::Enum:
        if (t->enumeration->spelled.empty())
            return t->enumeration->negative ? "int" : "unsigned int";
        return t->enumeration->spelled;
    case TypeKind::Complex:
        return "_Complex " + base_name(t->base);
    case TypeKind::Opaque:
        return t->spelled;
    default:
        return basic_name(t->kind);
    }
}

Rope Lower::extent(const Extent &e)
{
    if (e.value)
        return std::to_string(*e.value);
    if (!e.captured.empty())
        return e.captured;
    if (e.size && e.size->kind == ExprKind::SizeofType &&
        defined_.contains(&e.size->type_name->specifiers))
        return size(e.size); // its text defines the type once more
    return e.size ? node(e.size) : Rope();
}

// Returns a declaration of `inner` in plain C; if `inner` is empty, a type name.
Rope Lower::declare(const Type *t, Rope inner)
{
    Rope quals = quals_text(t->quals);
    switch (t->kind) {
    case TypeKind::Pointer:
        if (t->space == Space::Local) {
            Rope star = "*" + quals + std::move(inner);
            bool wrap = t->base->kind == TypeKind::Function ||
                        (t->base->kind == TypeKind::Array && t->base->captured.empty());
            return declare(t->base, wrap ? "(" + std::move(star) + ")" : std::move(star));
        }
        return quals + far_type(t->space) + std::move(inner);
    case TypeKind::SpreadArray:
        return far_type(Space::Spread) + std::move(inner);
    case TypeKind::Array:
        if (!t->captured.empty())
            return Rope(t->captured) + " " + std::move(inner);
        return declare(t->base, std::move(inner) + "[" + extent(t->extent) + "]");
    case TypeKind::Function: {
        Rope params;
        for (const Type *param : t->params)
            params += (params.empty() ? Rope() : Rope(", ")) + type(param);
        if (t->variadic)
            params += ", ...";
        if (t->prototype && params.empty())
            params = "void";
        return declare(t->base, std::move(inner) + "(" + std::move(params) + ")");
    }
    default:
        if (!inner.empty())
            inner = " " + std::move(inner);
        return std::move(quals) + base_name(t) + std::move(inner);
    }
}

// Returns the size of a type whose name means nothing at file scope, if it is known.
std::optional<int64_t> Lower::size_in_function(const Type *t)
{
    const Type *element = t;
    while (element->kind == TypeKind::Array)
        element = element->base;
    const bool outside = element->kind == TypeKind::Record && element->record->file_scope;
    return outside ? std::nullopt : splitcc::size_of(t);
}

// Returns sizeof the type, which is 1 in GNU C for void and functions.
Rope Lower::size_of(const Type *t)
{
    if (auto bytes = hoisting_ ? size_in_function(t) : std::nullopt)
        return std::to_string(*bytes);
    if (t->kind == TypeKind::Void || t->kind == TypeKind::Function)
        return "1";
    return "sizeof(" + type(t) + ")";
}

// Returns declarations that hold the run-time sizes of a type, because they keep the value that
// they have where the type is declared (C17 6.7.6.2).
Rope Lower::capture(const Type *t)
{
    if (!t || t->kind == TypeKind::Function)
        return {};
    Rope rope = capture(t->base);
    for (const Extent *e : t->spread) {
        if (!e->size || e->value || !e->captured.empty())
            continue;
        std::string name = fresh("d");
        rope += "const long " + name + Rope(kUnused) + " = (long)(" + extent(*e) + "); ";
        e->captured = name;
    }
    if (t->kind == TypeKind::Array && t->captured.empty() && variably_sized(t)) {
        std::string name = fresh("t");
        rope += "__extension__ typedef " + declare(t, name) + kUnused + "; ";
        t->captured = name;
    }
    return rope;
}

// Does the same for the part of a type that does not stay in the declarator.
Rope Lower::capture_far(const Type *t)
{
    while (t && !t->is_far() && t->kind != TypeKind::SpreadArray)
        t = t->base;
    return capture(t);
}

Rope Lower::capture_parameters(const Declarator &function)
{
    Rope rope;
    for (const Symbol *param : function.parts.front().param_symbols)
        rope += capture_far(param->type);
    return rope.empty() ? rope : " " + std::move(rope);
}

} // namespace splitcc
