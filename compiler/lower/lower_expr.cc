// SPDX-License-Identifier: BSD-3-Clause
//
// Expressions: which function lowers which kind, conversions, and operators on far pointers. An
// lvalue in the global address space becomes its address, a splitc_ptr; lower_access.cc reads and
// writes it.
#include "lower/lower.h"

namespace splitcc {
namespace {

bool is_null_value(const Expr *e)
{
    e = strip(e);
    if (e->kind == ExprKind::Cast && e->type->is_local_pointer() &&
        e->type->base->kind == TypeKind::Void)
        return is_null_value(e->a);
    return e->type->is_integer() && e->value == 0;
}

} // namespace

Rope Lower::generic(const Expr *e)
{
    std::vector<const Node *> list = {e->a, e->b, e->c, e->type_name, e->body};
    list.insert(list.end(), e->args.begin(), e->args.end());
    list.insert(list.end(), e->types.begin(), e->types.end());
    return children(e, std::move(list));
}

// Returns an expression that moves to file scope, with constants by value.  So is the size of a
// struct, which may be one of the function's; there the C compiler has to agree.
Rope Lower::hoisted(const Expr *e)
{
    if (e->value)
        return std::to_string(*e->value);
    if (e->op == Tok::KwSizeof) {
        const Type *t = e->kind == ExprKind::SizeofType ? e->type_name->type : e->a->type;
        if (auto bytes = size_in_function(t)) {
            define_dropped(e);
            agreed_ += agreed_size(t, *bytes);
            return std::to_string(*bytes) + "UL";
        }
    }
    bool leaf = e->kind == ExprKind::Ident || e->kind == ExprKind::Number;
    return leaf ? Rope::tokens(e->first, e->last) : generic(e);
}

// Returns the value of a touched expression.
Rope Lower::expr(const Expr *e)
{
    switch (e->kind) {
    case ExprKind::Ident:
        return e->symbol->emitted;
    case ExprKind::GlobalRead:
        return read(e->a);
    case ExprKind::GlobalDecay:
        return address(e->a);
    case ExprKind::SpreadDecay:
        return spread_element(e->a);
    case ExprKind::Convert:
        return convert(e);
    case ExprKind::Cast:
        return cast(e);
    case ExprKind::SizeofExpr:
    case ExprKind::SizeofType:
        return size(e);
    case ExprKind::AddressOf:
        addressed_ = e->a;
        return e->a->global ? address(e->a) : generic(e);
    case ExprKind::Call:
        return call(e);
    case ExprKind::PreInc:
    case ExprKind::PostInc:
        return step(e);
    case ExprKind::Binary:
        return binary(e);
    case ExprKind::Assign:
        return assign(e);
    case ExprKind::SplitPhase:
        return split_phase(e);
    case ExprKind::RunAtOwner:
        return run_at_owner(e);
    case ExprKind::ToLocal:
        return e->a->type->is_far() ? "((" + type(e->type) + ")splitc_address(" + node(e->a) + "))"
                                    : "(" + node(e->a) + ")";
    case ExprKind::ToProc:
        return "splitc_rank((splitc_ptr)(" + node(e->a) + "))";
    case ExprKind::Generic:
        return e->b ? "(" + node(e->b) + ")" : generic(e);
    case ExprKind::Comma: // as an object: see choice_as_object()
        return e->lvalue && !e->global ? "(*(" + node(e->a) + ", &" + node(e->b) + "))"
                                       : generic(e);
    case ExprKind::Conditional:
        return e->lvalue && !e->global
                   ? "(*(" + node(e->a) + " ? &" + node(e->b) + " : &" + node(e->c) + "))"
                   : generic(e);
    case ExprKind::Store:
        return write(e->a, e->b, Access::Store, true);
    default:
        return generic(e);
    }
}

// ---- conversions

Rope Lower::convert(const Expr *e)
{
    if (e->type->is_integer()) // a word of a message
        return "(" + type(e->type) + ")(" + node(e->a) + ")";
    if (e->type->is_far() && e->a->type->is_far()) // Sema::named_far
        return "splitc_named(" + node(e->a) + ")";
    if (!e->type->is_far())
        return "splitc_address(" + node(e->a) + ")";
    if (is_null_value(e->a))
        return "(splitc_ptr)0";
    if (e->a->type->is_integer())
        return "(splitc_ptr)(" + node(e->a) + ")";
    return "splitc_from_local(" + node(e->a) + ")";
}

Rope Lower::cast(const Expr *e)
{
    const Type *to = e->type;
    const Type *from = e->a->type;
    bool drops_processor = to->is_pointer() && !to->is_far() && from->is_far();
    if (!to->is_far() && !drops_processor && !e->type_name->touched)
        return generic(e);
    // called once, because nested casts would double the work at each level
    Rope operand = node(e->a);
    if (e->type_name->declarator.far)
        define_in_front(e->type_name->specifiers);
    if (to->is_far()) {
        bool local = from->kind == TypeKind::Array || from->is_local_pointer();
        if (local && !is_null_value(e->a))
            return "splitc_from_local(" + std::move(operand) + ")";
        return "((splitc_ptr)(" + std::move(operand) + "))";
    }
    Rope target = to->is_unknown()        ? node(e->type_name)
                  : e->type_name->touched ? type(to)
                                          : Rope::tokens(e->type_name->first, e->type_name->last);
    if (drops_processor)
        return "((" + std::move(target) + ")splitc_address(" + std::move(operand) + "))";
    return "((" + std::move(target) + ")(" + std::move(operand) + "))";
}

namespace {

// Returns the far pointer of a function that the operand of sizeof begins with, or null.  The size
// of another variable need not be constant, or known.
const Expr *measured_variable(const Expr *e)
{
    while (e->a)
        e = e->a;
    const Symbol *symbol = e->kind == ExprKind::Ident ? e->symbol : nullptr;
    const bool is_local =
        symbol && symbol->kind == SymbolKind::Object && !symbol->file_scope && symbol->type;
    if (is_local && symbol->parameter && symbol->type->kind == TypeKind::SpreadArray)
        return e; // a pointer in the output
    return is_local && symbol->type->is_far() ? e : nullptr;
}

} // namespace

// Lowers sizeof and alignof of a type that the source cannot name in C.  A variable that is used
// for that alone is used.
Rope Lower::size(const Expr *e)
{
    const Type *t = e->kind == ExprKind::SizeofType ? e->type_name->type : e->a->type;
    const bool defines = e->type_name && e->type_name->specifiers.body &&
                         !defined_.contains(&e->type_name->specifiers);
    if (e->op != Tok::KwSizeof && !defines)
        return "__alignof__(" + type(t->kind == TypeKind::SpreadArray ? t->base : t) + ")";
    if (t->kind == TypeKind::SpreadArray)
        return "(" + block_count(t) + " * " + size_of(t->base) + ")";
    if (t->is_unknown() || defines)
        return generic(e);
    define_dropped(e->a);
    const Expr *variable = e->kind == ExprKind::SizeofExpr ? measured_variable(e->a) : nullptr;
    return variable ? "(" + size_of(t) + " + 0 * sizeof " + node(variable) + ")" : size_of(t);
}

// ---- binary operators on far pointers

Rope Lower::binary(const Expr *e)
{
    const Type *a = e->a->type, *b = e->b->type;
    if (!a->is_far() && !b->is_far())
        return generic(e);
    bool spread =
        (a->is_far() && a->space == Space::Spread) || (b->is_far() && b->space == Space::Spread);
    switch (e->op) {
    case Tok::Plus:
        return a->is_far() ? advance(node(e->a), a, node(e->b))
                           : advance(node(e->b), b, node(e->a));
    case Tok::Minus:
        if (!b->is_far())
            return advance(node(e->a), a, "-(long)(" + node(e->b) + ")");
        if (spread)
            return "splitc_spread_diff(" + node(e->a) + ", " + node(e->b) + ", " +
                   size_of(a->base) + ")";
        return "((long)((" + node(e->a) + ") - (" + node(e->b) + ")) / (long)" + size_of(a->base) +
               ")";
    case Tok::Lt:
    case Tok::Gt:
    case Tok::Le:
    case Tok::Ge:
        if (spread)
            return "(splitc_spread_order(" + node(e->a) + ") " +
                   std::string(tokens_.spelling(e->name_token)) + " splitc_spread_order(" +
                   node(e->b) + "))";
        break;
    default:
        break;
    }
    // Without parentheses around it, of which clang warns in `if (p == q)`: the operator is the
    // source's, so it binds as it does there.
    return "(" + node(e->a) + ") " + std::string(tokens_.spelling(e->name_token)) + " (" +
           node(e->b) + ")";
}

} // namespace splitcc
