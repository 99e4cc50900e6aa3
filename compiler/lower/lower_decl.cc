// SPDX-License-Identifier: BSD-3-Clause
//
// Types and declarations.  A declarator that contains a pointer into the global
// address space declares, in C, something made of splitc_ptr: what stands
// between the name and that pointer stays, what lies beyond it is gone.
#include "lower/lower.h"

#include <map>

namespace splitcc {
namespace {

constexpr std::string_view kUnused = " __attribute__((unused))";

std::string quals_text(uint8_t quals)
{
    std::string text;
    if (quals & kConst)
        text += "const ";
    if (quals & kVolatile)
        text += "volatile ";
    return text;
}

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

// All are splitc_ptr; debuggers tell them apart.
std::string far_type(Space space)
{
    return space == Space::Spread ? "splitc_spread " : "splitc_global ";
}

// What stands in C for the outermost far part of a declarator that has one.
std::string far_type(const Declarator &d)
{
    for (const Part &part : d.parts)
        if (part.kind == Part::Spread || part.space != Space::Local)
            return far_type(part.kind == Part::Spread ? Space::Spread : part.space);
    return "splitc_ptr ";
}

const Declaration *as_definition(const Node *n)
{
    if (n->node != NodeKind::Declaration)
        return nullptr;
    const auto *d = static_cast<const Declaration *>(n);
    return d->is_definition ? d : nullptr;
}

} // namespace

std::string c_string(std::string_view text)
{
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            quoted += '\\';
        quoted += c;
    }
    return quoted + "\"";
}

// ---- types

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
    return e.size ? node(e.size) : Rope();
}

// A declaration of `inner` (nothing: a type name) in plain C.
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

// sizeof, with GNU C's 1 for what has no size.
Rope Lower::size_of(const Type *t)
{
    if (auto bytes = hoisting_ ? splitcc::size_of(t) : std::nullopt)
        return std::to_string(*bytes);
    if (t->kind == TypeKind::Void || t->kind == TypeKind::Function)
        return "1";
    return "sizeof(" + type(t) + ")";
}

// typeof of something whose type only cc knows.
static bool is_unknown_typeof(const Specifiers &s)
{
    return s.typeof_operand && s.type->is_unknown();
}

Rope Lower::type_name(const TypeName *t)
{
    // What is defined here, or can only be said so, has to stay.
    if (!t->declarator.far && (t->specifiers.body || is_unknown_typeof(t->specifiers)))
        return specifiers(t->specifiers, true) + " " + declarator(t->declarator);
    return type(t->type);
}

// ---- pieces of declarations

// Storage class, attributes and the like, without the type.
Rope Lower::not_type(const Specifiers &s)
{
    Rope rope;
    for (auto [first, last] : s.not_type) {
        rope += Rope::tokens(first, last);
        rope += " ";
    }
    return rope;
}

// The specifiers as written, with what is inside them lowered; or the type alone.
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

// The declarator up to its first global part, around its name.
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

// What follows the declarator: asm label, attributes, bit-field width, initializer.
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

// ---- run-time sizes

// Declarations that hold the run-time sizes of a type, so that they keep the
// value they had where the type was declared (C17 6.7.6.2).
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

// The same for the part of a type that does not stay in the declarator.
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

// ---- declarations

// True if the declaration has to become several.
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

Rope Lower::declaration(const Declaration *d)
{
    if (d->dropped)
        return {};
    if (d->is_definition)
        return function_definition(d);
    const Specifiers &s = d->specifiers;
    bool statement = tokens_[d->last - 1].kind == Tok::Semi; // not a parameter of a prototype
    Rope rope, base;
    if ((s.body || s.enum_body) && needs_split(d)) {
        // Define the struct or enum by itself, then use it.
        rope = specifiers(s, false) + "; ";
        base = not_type(s) + type(s.type);
    } else {
        base = specifiers(s, true);
    }
    bool open = d->declarators.empty(); // something that still wants its semicolon
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

// One declarator that contains a global pointer or a spread array, as a declaration of
// its own: a parameter, or a statement that ends with a semicolon if it needs one.
Rope Lower::far_item(const Declaration *d, const InitDeclarator &item, bool statement)
{
    const Specifiers &s = d->specifiers;
    bool object = d->role == DeclarationRole::Object;
    if (object && item.type->kind == TypeKind::SpreadArray && s.storage != Storage::Extern)
        return d->file_scope || s.storage == Storage::Static ? static_spread(d, item)
                                                             : automatic_spread(d, item) + "; ";
    Rope rope;
    if (object && !d->file_scope)
        rope += capture_far(item.type);
    return std::move(rope) + not_type(s) + far_type(item.declarator) + declarator(item.declarator) +
           after_declarator(item) + (statement ? "; " : "");
}

// The number of blocks of a spread array.
Rope Lower::block_count(const Type *array)
{
    Rope count;
    for (const Extent *e : array->spread)
        count += (count.empty() ? "(splitc_size)(" : " * (splitc_size)(") + extent(*e) + ")";
    return count;
}

// Allocated here, freed by whatever leaves the scope.
Rope Lower::automatic_spread(const Declaration *d, const InitDeclarator &item)
{
    Rope rope = capture_far(item.type);
    // Something of run-time size, so that cc refuses a jump past the allocation.
    rope += "__extension__ typedef char " +
            fresh("scope_of_" + std::string(item.declarator.name->text) + "_") +
            "[splitc_job.procs]" + std::string(kUnused) + "; ";
    rope += not_type(d->specifiers) + far_type(item.declarator) + declarator(item.declarator) +
            " __attribute__((cleanup(" +
            (checks_ ? "splitc_check_cleanup" : "splitc_spread_cleanup") + ")))" +
            after_declarator(item) + " = " +
            (checks_ ? "splitc_check_spread_array(" : "splitc_spread_alloc(") +
            block_count(item.type) + ", " + size_of(item.type->base);
    if (checks_)
        rope += ", \"spread array '" + std::string(item.declarator.name->text) + "'\", " + place(d);
    rope += ")";
    return rope;
}

// Allocated by the runtime before splitc_main, which learns its shape from a
// constructor.  One inside a function moves to file scope under a name of its own.
Rope Lower::static_spread(const Declaration *d, const InitDeclarator &item)
{
    std::string name(item.declarator.name->text);
    Rope variable;
    bool known = false;
    if (d->file_scope) {
        variable = not_type(d->specifiers) + far_type(item.declarator) +
                   declarator(item.declarator) + after_declarator(item);
        known = !registered_.insert(name).second;
    } else {
        item.symbol->emitted = fresh("static") + "_" + name;
        variable = "static " + far_type(Space::Spread) + item.symbol->emitted;
    }
    std::string variable_name = d->file_scope ? name : item.symbol->emitted;
    Rope registration;
    hoisting_ = !d->file_scope;
    if (!known) {
        std::string id = fresh("array");
        Position at = source_.position(tokens_[item.declarator.name_token].offset);
        registration =
            "static void " + id +
            "_shape(splitc_size *count, splitc_size *size) { *count = " + block_count(item.type) +
            "; *size = " + size_of(item.type->base) + "; } static struct splitc_static " + id +
            " = {&" + variable_name + ", " + id + "_shape, \"" + name + "\", " + c_string(at.file) +
            ", " + std::to_string(at.line) + ", 0}; static void __attribute__((constructor)) " +
            id + "_register(void) { splitc_register_static(&" + id + "); }";
    }
    hoisting_ = false;
    variable += "; ";
    if (d->file_scope)
        return std::move(variable) + std::move(registration) + " ";
    // The size went to file scope as a number; cc has to agree with it.
    Rope check;
    if (auto bytes = splitcc::size_of(item.type->base))
        check = "__extension__ _Static_assert(" + size_of(item.type->base) +
                " == " + std::to_string(*bytes) + ", \"the size of a spread array's block\"); ";
    pending_ += std::move(variable) + std::move(registration) + " ";
    return check;
}

// ---- functions

Rope Lower::function_definition(const Declaration *d)
{
    const InitDeclarator &item = d->declarators[0];
    Splice splice(*this, d->first);
    if (item.declarator.far)
        splice.replace(d->first, item.declarator.last,
                       not_type(d->specifiers) + far_type(item.declarator) +
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

// The `extern` of an `extern inline` that no attribute says more about; UINT32_MAX if
// that is not what d is.
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
        // What is weak to the C compiler, it does not inline.
        std::string weak =
            by_assembler ? "__asm__(\".weak " + name + "\");" : "__attribute__((weak))";
        substitutions_[at] = {at + 1, ""};
        substitutions_[d->first] = {at == d->first ? at + 1 : d->first, weak};
    }
}

// The runtime calls splitc_entry, whatever type the program gave splitc_main.
Rope Lower::entry(const Declaration *d)
{
    const InitDeclarator &item = d->declarators[0];
    size_t count = item.declarator.parts.front().param_symbols.size();
    std::string call = count == 0   ? "splitc_main()"
                       : count == 1 ? "splitc_main(argc)"
                       : count == 2 ? "splitc_main(argc, argv)"
                                    : "splitc_main(argc, argv, splitc_environment)";
    bool is_void = item.type->base->kind == TypeKind::Void;
    return " int splitc_entry(int argc, char **argv) { (void)argc; (void)argv; " +
           (is_void ? call + "; return 0; }" : "return " + call + "; }");
}

} // namespace splitcc
