// SPDX-License-Identifier: BSD-3-Clause
//
// The types of primary, postfix and unary expressions.  Rules of plain C are left to the C
// compiler; this file checks what the C compiler cannot see in the translation.
#include "sema/index.h"
#include "sema/literals.h"
#include "sema/sema.h"

namespace splitcc {
namespace {

bool touched(const Node *n)
{
    return n && n->touched;
}

} // namespace

// Sets the type, and marks the expression as touched if one of its operands is.
static bool is_access(const Expr *e)
{
    return e->kind == ExprKind::Deref || e->kind == ExprKind::Index || e->kind == ExprKind::Arrow ||
           e->kind == ExprKind::Dot;
}

Expr *Sema::finish(Expr *e, const Type *type)
{
    e->type = type;
    e->touched |= touched(e->a) || touched(e->b) || touched(e->c) || touched(e->type_name) ||
                  touched(e->body) || e->global;
    for (const Expr *arg : e->args)
        e->touched |= arg->touched;
    for (const TypeName *name : e->types)
        e->touched |= touched(name);
    if (ast_.index && e->global && is_access(e))
        ast_.index->access(e);
    return e;
}

Expr *Sema::wrap(ExprKind kind, Expr *operand, const Type *type)
{
    Expr *e = ast_.expr(kind);
    e->first = operand->first;
    e->last = operand->last;
    e->a = operand;
    e->touched = true;
    e->type = type;
    return e;
}

Expr *Sema::fail(Expr *e, std::string_view message)
{
    diag_.error(range(e), message);
    e->global = false;
    return finish(e, types_.unknown());
}

// ---- primary expressions

Expr *Sema::identifier(Expr *e, Name *name, bool called)
{
    Symbol *symbol = name->ordinary;
    if (!symbol) {
        undeclared(e, name);
        if (!called || !name->ordinary)
            return finish(e, e->type);
        symbol = name->ordinary;
    }
    if (symbol->kind == SymbolKind::Typedef)
        return fail(e, "'" + std::string(name->text) + "' names a type, not a value");
    e->symbol = symbol;
    if (symbol->hides_type)
        symbol->uses.push_back(e->first);
    if (is_typed_here(symbol) && !called)
        return fail(e, std::string(name->text) + "() can only be called");
    if (symbol->kind == SymbolKind::Function && symbol->file_scope && !called)
        function_values_.push_back(name);
    if (symbol->kind == SymbolKind::Constant)
        e->value = symbol->value;
    e->lvalue = symbol->kind == SymbolKind::Object;
    // A static spread array inside a function, or a pointer into one, has another name in the
    // output.
    e->touched = symbol->storage == Storage::Static && !symbol->file_scope && symbol->type &&
                 (symbol->type->kind == TypeKind::SpreadArray || symbol->start);
    if (ast_.index)
        ast_.index->name(e->first, symbol);
    return finish(e, symbol->type ? symbol->type : types_.unknown());
}

Expr *Sema::string(Expr *e)
{
    return finish(
        e, types_.unsized_array(literals::string_element(types_, tokens_.spelling(e->first))));
}

Expr *Sema::number(Expr *e)
{
    literals::number(types_, tokens_.spelling(e->first), e);
    return finish(e, e->type);
}

Expr *Sema::character(Expr *e)
{
    literals::character(types_, tokens_.spelling(e->first), e);
    return finish(e, e->type);
}

Expr *Sema::paren(Expr *e)
{
    e->lvalue = e->a->lvalue;
    e->global = e->a->global;
    e->value = e->a->value;
    return finish(e, e->a->type);
}

// ---- postfix expressions

Expr *Sema::spread_index(Expr *e)
{
    const Type *array = e->a->type;
    e->b = value(e->b);
    if (!value_type(e->b)->is_integer() && !value_type(e->b)->is_unknown())
        return fail(e, "the index of a spread array has to be an integer");
    e->touched = true;
    if (array->spread.size() > 1) {
        std::vector<const Extent *> rest(array->spread.begin() + 1, array->spread.end());
        return finish(e, types_.spread_array(array->base, std::move(rest)));
    }
    e->lvalue = e->global = true;
    return finish(e, array->base);
}

Expr *Sema::index(Expr *e)
{
    if (e->a->type->kind == TypeKind::SpreadArray)
        return spread_index(e);
    if (e->a->type->kind == TypeKind::Array && place_of(e->a) == Place::Global)
        e->a = choice_as_object(e->a); // `(up ? *above : *below).row[i]`
    e->a = value(e->a);
    e->b = value(e->b);
    const Type *pointer = value_type(e->a), *other = value_type(e->b);
    if (!pointer->is_pointer())
        std::swap(pointer, other);
    if (!pointer->is_pointer()) {
        if (pointer->is_unknown() || other->is_unknown() || pointer->kind == TypeKind::Opaque ||
            other->kind == TypeKind::Opaque)
            return finish(e, types_.unknown());
        return fail(e,
                    "only an array or a pointer can be indexed, not " + quoted(value_type(e->a)));
    }
    if ((pointer->is_far() && !other->is_integer() && !other->is_unknown()) || other->is_far())
        return fail(e, "an index has to be an integer");
    can_step(e, pointer);
    e->lvalue = true;
    e->global = pointer->is_far();
    return finish(e, pointer->base);
}

// The C compiler does not say so within a macro of a header of the system's.
void Sema::check_processor(const Expr *e)
{
    if (value_type(e)->is_local_pointer())
        diag_.warning(range(e), "-Wint-conversion",
                      "toglobal() and tospread() take the processor first; this is " +
                          quoted(value_type(e)));
}

Expr *Sema::call(Expr *e)
{
    if (is_typed_here(e->a->symbol))
        return typed_call(e);
    e->a = value(e->a);
    const Type *type = value_type(e->a);
    if (type->is_local_pointer())
        type = type->base;
    if (type->is_far() && type->base->kind == TypeKind::Function)
        return fail(e, "a function cannot be called through a global pointer");
    if (type->kind != TypeKind::Function) {
        for (Expr *&arg : e->args)
            arg = value(arg);
        if (type->is_unknown() || type->kind == TypeKind::Opaque)
            return finish(e, types_.unknown());
        return fail(e, "this is " + quoted(value_type(e->a)) + ", not a function");
    }
    const std::string_view callee = e->a->kind != ExprKind::Ident ? std::string_view()
                                    : e->a->symbol                ? e->a->symbol->name->text
                                                                  : tokens_.spelling(e->a->first);
    // toglobal and tospread, whose expansion it is, are named where the place is.
    const std::string name =
        callee.empty() || callee == "splitc_make" ? "" : " of '" + std::string(callee) + "'";
    const Type *text = types_.pointer(types_.basic(TypeKind::Char), Space::Local);
    for (size_t i = 0; i < e->args.size(); i++) {
        const std::string what = "argument " + std::to_string(i + 1) + name;
        if (i >= type->params.size()) {
            e->args[i] = named_far(value(e->args[i]));
            note_pointer_result(e->args[i], prints_text(e, i) ? text : nullptr);
        } else if (type->prototype)
            e->args[i] = convert(message_word(e, i, type->params[i]), type->params[i], what);
        else
            e->args[i] = unconverted(value(e->args[i]), type->params[i], what);
    }
    check_argument_count(e, type);
    if (callee == "splitc_make" && !e->args.empty())
        check_processor(e->args[0]);
    if (e->a->symbol && e->a->symbol->library) {
        check_arguments_kept(e, type->params);
        note_handler(e);
    }
    if (e->a->symbol && e->a->symbol->implicit)
        e->a->symbol->kept_calls++; // until it is known that the value is discarded
    const Symbol *called =
        strip(e->a)->symbol; // also of (name)(...), as macros of the library call
    if (called && called->library)
        e->touched |= ast_.checks || ast_.profile;
    return finish(e, type->base);
}

Expr *Sema::member(Expr *e, Name *name)
{
    const Type *record;
    if (e->kind == ExprKind::Arrow) {
        e->a = value(e->a);
        const Type *pointer = value_type(e->a);
        if (pointer->is_unknown())
            return finish(e, types_.unknown());
        if (!pointer->is_pointer())
            return fail(e, "'->' needs a pointer on its left; this is " + quoted(pointer));
        record = pointer->base;
        e->lvalue = true;
        e->global = pointer->is_far();
    } else {
        record = e->a->type;
        e->lvalue = e->a->lvalue;
        e->global = e->a->global;
        if (record->is_pointer() && record->base->kind == TypeKind::Record)
            return fail(e, "this is a pointer; write '->' instead of '.'");
    }
    if (record->is_unknown() || record->kind == TypeKind::Opaque) {
        e->global = false;
        return finish(e, types_.unknown());
    }
    if (record->kind != TypeKind::Record)
        return fail(e, "only a struct or union has members; this is " + quoted(record));
    if (!record->record->complete)
        return fail(e, quoted(record) + " is not defined here");
    e->member = find_member(record, name);
    if (!e->member) {
        diag_.error(range(e->name_token),
                    quoted(record) + " has no member '" + std::string(name->text) + "'");
        e->global = false;
        return finish(e, types_.unknown());
    }
    if (ast_.index && e->member->name)
        ast_.index->member(e->name_token, record, e->member);
    return finish(e, types_.qualified(e->member->type, record->quals));
}

// ---- unary operators

Expr *Sema::unary(Expr *e)
{
    if (e->op == Tok::KwExtension) {
        e->a = value(e->a);
        e->value = e->a->value;
        return finish(e, value_type(e->a));
    }
    if (e->op == Tok::KwReal || e->op == Tok::KwImag) {
        bool complex = e->a->type->kind == TypeKind::Complex;
        e->a = e->a->global && !complex ? value(e->a) : e->a;
        e->lvalue = e->a->lvalue;
        e->global = e->a->global;
        return finish(e, complex ? e->a->type->base : types_.unknown());
    }
    e->a = operand(e->a);
    const Type *type = value_type(e->a);
    if (e->op == Tok::Bang) {
        note_pointer_result(e->a, nullptr);
        if (e->a->value)
            e->value = !*e->a->value;
        return finish(e, types_.basic(TypeKind::Int));
    }
    if (type->is_far())
        return fail(e, "this operator does not apply to " + quoted(type));
    if (e->a->value && type->is_integer()) {
        uint64_t v = static_cast<uint64_t>(*e->a->value);
        v = e->op == Tok::Minus ? 0 - v : e->op == Tok::Tilde ? ~v : v;
        e->value = literals::wrap(static_cast<int64_t>(v), promote(type));
    }
    return finish(e, type->is_arithmetic() ? promote(type) : types_.unknown());
}

// Returns the macro of split-c.h whose expansion contains this '*', in order to name the type that
// its address points to; empty if it is in none.
std::string_view Sema::far_pointer_maker(const Expr *e)
{
    // The text is (typeof(*(address)) *global)splitc_make(...).
    const uint32_t at = e->last;
    const Name *maker = tokens_[at + 4].name;
    if (tokens_[at + 1].kind != Tok::Star || !maker || maker->text != "splitc_make")
        return {};
    return tokens_.spelling(at + 2) == "global" ? "toglobal" : "tospread";
}

Expr *Sema::deref(Expr *e)
{
    e->a = value(e->a);
    const Type *type = value_type(e->a);
    if (!type->is_pointer()) {
        if (type->is_unknown())
            return finish(e, type);
        if (std::string_view maker = far_pointer_maker(e); !maker.empty()) {
            const Type *nothing = types_.basic(TypeKind::Void);
            const bool undeclared =
                note_pointer_result(e->a, types_.pointer(nothing, Space::Local));
            if (undeclared || is_null_constant(e->a)) // the same as for NULL
                return finish(e, nothing);
            return fail(e, std::string(maker) +
                               "() needs a local address behind the processor; "
                               "this is " +
                               quoted(type));
        }
        const Report report = diag_.error(range(e), "'*' needs a pointer; this is " + quoted(type));
        note_implicit(report, e->a);
        return finish(e, types_.unknown());
    }
    e->lvalue = true;
    e->global = type->is_far();
    return finish(e, type->base);
}

Expr *Sema::address_of(Expr *e)
{
    e->a = choice_as_object(e->a);
    if (e->a->type->kind == TypeKind::SpreadArray)
        return fail(e, "a whole spread array has no address; use its name, or '&' of an element");
    if (e->a->type->is_unknown())
        return finish(e, types_.unknown());
    if (e->a->global && is_bit_field(e->a))
        return fail(e, "a bit-field has no address");
    return finish(e, types_.pointer(e->a->type, e->a->global ? Space::Global : Space::Local));
}

Expr *Sema::cast(Expr *e)
{
    const Type *to = types_.decayed(e->type_name->type);
    if (to->kind == TypeKind::Void) {
        e->a = discard(e->a);
        return finish(e, to);
    }
    e->a = value(e->a);
    note_pointer_result(e->a, to);
    const Type *from = value_type(e->a);
    bool from_scalar = from->is_pointer() || from->is_integer() || from->is_unknown();
    bool to_scalar = to->is_pointer() || to->is_integer() || to->is_unknown();
    const bool to_union = to->kind == TypeKind::Record && to->record->is_union; // of GNU C
    if ((from->is_far() && !to_scalar && !to_union) || (to->is_far() && !from_scalar))
        return fail(e, "cannot cast " + quoted(from) + " to " + quoted(to));
    e->touched = to->is_far() || (from->is_far() && to->is_pointer());
    if (from->is_far() && to->is_local_pointer())
        warn_of_local_cast(e);
    // The owner is in the upper bits.  C compilers say so of local pointers, which they see; what
    // they get for this one is an integer.
    if (from->is_far() && to->is_integer() && to->kind != TypeKind::Bool &&
        size_of(to).value_or(8) < 8)
        diag_.warning(range(e), "-Wpointer-to-int-cast",
                      "a cast of " + quoted(from) + " to " + quoted(to) +
                          " drops its processor and a part of its address; cast to 'long'");
    if (e->a->value && to->is_integer())
        e->value = literals::wrap(*e->a->value, to);
    return finish(e, to->unqualified);
}

Expr *Sema::compound_literal(Expr *e)
{
    e->lvalue = true;
    return finish(e, e->type_name->type);
}

Expr *Sema::size(Expr *e)
{
    const Type *type = e->kind == ExprKind::SizeofType ? e->type_name->type : e->a->type;
    // Pragmas and attributes change the sizes of records and enums, which only the C compiler
    // knows.
    const Type *element = type;
    while (element->kind == TypeKind::Array)
        element = element->base;
    if (e->op == Tok::KwSizeof && element->kind != TypeKind::Record &&
        element->kind != TypeKind::Enum)
        e->value = size_of(type);
    if (type->kind == TypeKind::SpreadArray) {
        e->touched = true;
        if (!type->spread.front()->size)
            diag_.error(range(e), "the size of a spread array is not known where its first "
                                  "dimension is left open");
    }
    return finish(e, types_.basic(TypeKind::ULong));
}

// ---- selections

// The selected result becomes `b`, because all far pointers have one type in C, and _Generic could
// not tell their associations apart.
Expr *Sema::generic(Expr *e)
{
    const Type *type = value_type(e->a);
    Expr *fallback = nullptr;
    for (size_t i = 0; i < e->args.size(); i++) {
        e->args[i] = value(e->args[i]);
        if (!e->types[i])
            fallback = e->args[i];
        else if (!e->b && same_type(e->types[i]->type, type))
            e->b = e->args[i];
    }
    if (!e->b && !type->is_unknown())
        e->b = fallback;
    return finish(e, e->b ? value_type(e->b) : types_.unknown());
}

Expr *Sema::choose(Expr *e)
{
    if (!e->a->value) {
        e->b = value(e->b);
        e->c = value(e->c);
        return finish(e, types_.unknown());
    }
    e->b = value(e->b);
    e->c = value(e->c);
    const Expr *chosen = *e->a->value ? e->b : e->c;
    e->value = chosen->value;
    return finish(e, chosen->type);
}

Expr *Sema::other(Expr *e, const Type *type)
{
    return finish(e, type);
}

} // namespace splitcc
