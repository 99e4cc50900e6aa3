// SPDX-License-Identifier: BSD-3-Clause
//
// Declarations.  A declarator that contains a far pointer becomes the declarator of a splitc_ptr:
// the parts between the name and that pointer stay, those beyond it are dropped.
#include "lower/lower.h"

namespace splitcc {

// Returns storage class, attributes and the like, without the type.
Rope Lower::not_type(const Specifiers &s)
{
    Rope rope;
    for (auto [first, last] : s.not_type) {
        rope += Rope::tokens(first, last);
        rope += " ";
    }
    return rope;
}

// Returns whether only the C compiler knows the type of a typeof.
static bool is_unknown_typeof(const Specifiers &s)
{
    return s.typeof_operand && s.type->is_unknown();
}

// Returns the specifiers as written, with their insides lowered; or the type alone.
Rope Lower::specifiers(const Specifiers &s, bool with_storage)
{
    Splice splice(*this, s.first);
    size_t next = with_storage ? s.not_type.size() : 0;
    auto drop_storage = [&](uint32_t before) {
        for (; next < s.not_type.size() && s.not_type[next].first < before; next++)
            splice.replace(s.not_type[next].first, s.not_type[next].second, {});
    };
    if (s.body) {
        drop_storage(s.body->first);
        for (const Node *member : s.body->members)
            splice.child(member);
    }
    if (s.typeof_operand && s.touched) {
        drop_storage(s.typeof_operand->first);
        splice.replace(s.typeof_operand->first, s.typeof_operand->last,
                       is_unknown_typeof(s) ? node(s.typeof_operand) : type(s.type->unqualified));
    }
    for (const Expr *e : s.enumerators) {
        drop_storage(e->first);
        splice.child(e);
    }
    drop_storage(s.last);
    return splice.finish(s.last);
}

Rope Lower::array_suffix(const Part &part)
{
    Splice splice(*this, part.first);
    splice.child(part.extents[0].size);
    return splice.finish(part.last);
}

Rope Lower::function_suffix(const Part &part)
{
    Splice splice(*this, part.first);
    for (const Declaration *param : part.params)
        splice.child(param);
    return splice.finish(part.last);
}

// Returns the declarator around its name, up to its first far part.
Rope Lower::declarator(const Declarator &d)
{
    if (!d.touched && !d.far)
        return Rope::tokens(d.first, d.last);
    Rope rope = d.name ? Rope::tokens(d.name_token, d.name_token + 1) : Rope();
    bool pointer = false;
    for (const Part &part : d.parts) {
        if (part.kind == Part::Spread)
            return rope;
        if (part.kind == Part::Pointer && part.space != Space::Local)
            return quals_text(part.quals) + std::move(rope);
        if (part.kind == Part::Pointer) {
            rope = "*" + Rope::tokens(part.first, part.last) + " " + std::move(rope);
            pointer = true;
            continue;
        }
        if (pointer)
            rope = "(" + std::move(rope) + ")";
        pointer = false;
        rope += part.kind == Part::Array ? array_suffix(part) : function_suffix(part);
    }
    return rope;
}

// Returns what follows the declarator: asm label, attributes, bit-field width and initializer.
Rope Lower::after_declarator(const InitDeclarator &item)
{
    Rope rope;
    if (item.bit_width)
        rope += " : " + node(item.bit_width);
    if (item.after_first < item.after_last)
        rope += " " + Rope::tokens(item.after_first, item.after_last);
    if (item.init)
        rope += " = " + Rope::gap(item.init->first) + node(item.init);
    return rope;
}

// Returns the definition of a struct, union or enum as a declaration by itself.
Rope Lower::definition(const Specifiers &s, bool member)
{
    // That of a member's type, or a qualified one, is worth a warning.
    return member || s.type->quals
               ? "_Static_assert(sizeof(" + specifiers(s, false) + ") + 1, \"\"); "
               : specifiers(s, false) + "; ";
}

// What a type name defines that does not stay in it is defined in front of the statement, since
// the text of the pointee is gone and its members are used.
void Lower::define_in_front(const Specifiers &s)
{
    if ((!s.body && !s.enum_body) || !defined_.insert(&s).second)
        return;
    base_name(s.type); // gives it a tag
    definitions_ += definition(s, false);
}

// The same for what an expression defines whose text is dropped.
void Lower::define_dropped(const Expr *e)
{
    for (; e; e = e->a)
        if (e->type_name)
            define_in_front(e->type_name->specifiers);
}

Rope Lower::type_name(const TypeName *t)
{
    if (t->declarator.far)
        define_in_front(t->specifiers);
    // A type that is defined here, or is a typeof that only the C compiler knows, has to stay.
    if (!t->declarator.far && (t->specifiers.body || is_unknown_typeof(t->specifiers)))
        return specifiers(t->specifiers, true) + " " + declarator(t->declarator);
    return type(t->type);
}

// Returns whether the declaration has to be split into several.
bool Lower::needs_split(const Declaration *d) const
{
    bool near = false, captures = false;
    size_t far = 0;
    for (const InitDeclarator &item : d->declarators) {
        if (!item.declarator.far) {
            near = true;
            continue;
        }
        far++;
        captures |= item.type->kind == TypeKind::SpreadArray;
        for (const Type *t = item.type; t; t = t->base)
            captures |= variably_sized(t);
    }
    return far > 0 &&
           (near || far > 1 || captures || d->specifiers.body || d->specifiers.enum_body);
}

// A type without a tag is known by the name that a typedef gives it, unless that is split off its
// definition.
void Lower::forget_typedef(const Type *t)
{
    if (t->kind == TypeKind::Record && !t->record->tag) {
        t->record->spelled.clear();
        base_name(t); // gives it a tag
    }
    if (t->kind == TypeKind::Enum && !t->enumeration->tag)
        t->enumeration->spelled.clear();
}

Rope Lower::declaration(const Declaration *d)
{
    if (d->dropped)
        return {};
    if (d->is_definition)
        return function_definition(d);
    const Specifiers &s = d->specifiers;
    // A parameter of a prototype has no semicolon.
    bool statement = tokens_[d->last - 1].kind == Tok::Semi || d->role == DeclarationRole::Member;
    Rope rope, base;
    if ((s.body || s.enum_body) && needs_split(d)) {
        // The struct or enum is defined by itself first, and then used.
        forget_typedef(s.type);
        Rope defined = definition(s, d->role == DeclarationRole::Member);
        if (d->role == DeclarationRole::Parameter)
            definitions_ += std::move(defined); // a parameter is one declaration
        else
            rope = std::move(defined);
        base = not_type(s) + type(s.type);
    } else {
        base = specifiers(s, true);
    }
    bool open = d->declarators.empty(); // the last item still needs its semicolon
    if (open)
        rope += base;
    for (const InitDeclarator &item : d->declarators) {
        bool far = item.declarator.far;
        if (open && far)
            rope += "; ";
        if (far) {
            rope += far_item(d, item, statement);
        } else {
            rope += open ? Rope(", ") : base + " ";
            rope += declarator(item.declarator) + after_declarator(item);
        }
        open = !far;
    }
    if (open && statement)
        rope += ";";
    return rope;
}

// Returns one declarator that contains a far pointer or a spread array as a declaration of its own:
// a parameter, or a statement with a semicolon if it needs one.
Rope Lower::far_item(const Declaration *d, const InitDeclarator &item, bool statement)
{
    const Specifiers &s = d->specifiers;
    bool object = d->role == DeclarationRole::Object;
    if (object && item.type->kind == TypeKind::SpreadArray && s.storage != Storage::Extern)
        return d->file_scope || s.storage == Storage::Static ? static_spread(d, item)
                                                             : automatic_spread(d, item) + "; ";
    if (object && item.symbol->start)
        return static_pointer(d, item);
    Rope rope;
    if (object && !d->file_scope)
        rope += capture_far(item.type);
    return std::move(rope) + not_type(s) + far_type(item.declarator) + declarator(item.declarator) +
           after_declarator(item) + (statement ? "; " : "");
}

} // namespace splitcc
