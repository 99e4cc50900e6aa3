// SPDX-License-Identifier: BSD-3-Clause
//
// Reads and writes of objects in the global address space.  New variables are in statement
// expressions and have names of their own, so that no operand is evaluated twice, and no name of
// the user is captured.
#include "lower/lower.h"

namespace splitcc {

std::string access_name(Access how)
{
    static const char *const names[] = {"read", "write", "get", "put", "store", "change"};
    return names[static_cast<int>(how)];
}

// Returns the address, with the calls of -fcheck and -fprofile-lines around it.
Rope Lower::instrumented(Rope address, Access how, Rope size, const Expr *e)
{
    Rope good = checked(std::move(address), how, size, e);
    return counted(std::move(good), how, std::move(size), e);
}

// Returns the object in the form that the access functions of abi.h take: a pointer, and an offset
// for those whose names end in _at.
Lower::Target Lower::target(const Expr *e, Access how, Rope size, const Expr *blamed)
{
    if (checks_)
        return {instrumented(address(e), how, std::move(size), blamed), {}};
    Target there = locate(e);
    there.pointer = counted(std::move(there.pointer), how, std::move(size), blamed);
    return there;
}

// Returns the address of the struct that holds a bit-field.
Rope Lower::parent_of_bits(const Expr *e, const Type *&record)
{
    if (e->kind == ExprKind::Arrow) {
        record = e->a->type->base->unqualified;
        return "(" + node(e->a) + ")";
    }
    record = e->a->type->unqualified;
    return address(e->a);
}

// Puts the pointer into a variable.  This gives the line code of its own: if gcc inlines a call
// that has no other argument to evaluate, a debugger cannot stop before it.
Rope Lower::hold_pointer(Target &target)
{
    std::string p = fresh("p");
    Rope rope = "splitc_ptr " + p + " = " + std::move(target.pointer) + "; ";
    target.pointer = p;
    return rope;
}

Rope Lower::read(const Expr *e)
{
    std::string v = fresh("v");
    if (is_bit_field(e)) {
        const Type *record;
        Rope parent = parent_of_bits(strip(e), record);
        Target from = {instrumented(std::move(parent), Access::Read, "sizeof " + v, e), {}};
        Rope place = hold_pointer(from);
        return kBlock + declare(record, v) + "; " + std::move(place) + "splitc_read(&" + v + ", " +
               from.arguments() + ", sizeof " + v + "); +" + v + "." + // promoted, by any compiler
               std::string(tokens_.spelling(strip(e)->name_token)) + "; })";
    }
    Target from = target(e, Access::Read, "sizeof " + v, e);
    Rope place = hold_pointer(from);
    return kBlock + declare(e->type->unqualified, v) + "; " + std::move(place) +
           from.access("splitc_read") + "(&" + v + ", " + from.arguments() + ", sizeof " + v +
           "); " + v + "; })";
}

// Assigns the value by one of the functions of abi.h.
Rope Lower::write(const Expr *to, const Expr *value, Access how, bool discarded)
{
    if (is_bit_field(to))
        return write_bits(to, value, discarded);
    std::string v = fresh("v");
    // Not initialized, for the C compiler's messages to speak of an assignment.
    Rope text = kBlock + declare(to->type->unqualified, v) + "; " + v + " = " + node(value) + "; ";
    Target there = target(to, how, "sizeof " + v, to);
    return std::move(text) + there.access("splitc_" + access_name(how)) + "(" + there.arguments() +
           ", &" + v + ", sizeof " + v + "); " + (discarded ? "" : v + "; ") + "})";
}

// A bit-field is written by its owner, atomically, through a mask of its bits.
Rope Lower::write_bits(const Expr *to, const Expr *value, bool discarded)
{
    const Type *record;
    std::string v = fresh("v"), bits = fresh("b"), mask = fresh("m");
    std::string field = "." + std::string(tokens_.spelling(strip(to)->name_token));
    Rope parent = parent_of_bits(strip(to), record);
    parent = instrumented(std::move(parent), Access::Write, "sizeof(" + type(record) + ")", to);
    return kBlock + declare(to->type->unqualified, v) + "; " + v + " = " + node(value) + "; " +
           declare(record, bits) + ", " + mask + "; __builtin_memset(&" + bits + ", 0, sizeof " +
           bits + "); __builtin_memset(&" + mask + ", 0, sizeof " + mask + "); " + mask + field +
           " = " + mask + field + " - 1; " + bits + field + " = " + v + "; splitc_write_masked(" +
           std::move(parent) + ", &" + mask + ", &" + bits + ", sizeof " + bits + "); " +
           (discarded ? std::string() : "+" + bits + field + "; ") + "})";
}

// Returns `value op operand` for the operator of a compound assignment or of ++ and --.
Rope Lower::operation(Rope value, const Type *t, const Expr *e, const Expr *operand)
{
    Rope count = operand ? node(operand) : Rope("1");
    bool down = e->op == Tok::SubAssign || e->op == Tok::Dec;
    if (t->is_far())
        return advance(std::move(value), t,
                       down ? "-(long)(" + std::move(count) + ")" : std::move(count));
    std::string op = operand ? std::string(tokens_.spelling(e->name_token)) : down ? "-=" : "+=";
    op.pop_back();
    return std::move(value) + " " + op + " (" + std::move(count) + ")";
}

// The same, assigned to the value.
Rope Lower::assigned(const Expr *e, const Expr *operand)
{
    if (!operand)
        return e->op == Tok::Dec ? " -= 1" : " += 1";
    return " " + std::string(tokens_.spelling(e->name_token)) + " (" + node(operand) + ")";
}

// Reads an object in the global address space, changes it and writes it back.
Rope Lower::modify(const Expr *e, const Expr *operand)
{
    if (is_bit_field(e->a))
        return modify_bits(e, operand);
    const Type *t = e->a->type->unqualified;
    std::string a = fresh("a"), v = fresh("v"), old = fresh("o");
    bool postfix = e->kind == ExprKind::PostInc && !e->discarded;
    Target object = target(e->a, Access::Change, "sizeof(" + type(t) + ")", e);
    Rope rope = kBlock + ("splitc_ptr " + a) + " = " + std::move(object.pointer) + "; ";
    if (!object.offset.empty()) {
        std::string offset = fresh("d");
        rope += "splitc_size " + offset + " = " + std::move(object.offset) + "; ";
        object.offset = offset;
    }
    object.pointer = a;
    rope += declare(t, v) + "; " + object.access("splitc_read") + "(&" + v + ", " +
            object.arguments() + ", sizeof " + v + "); ";
    if (postfix)
        rope += declare(t, old) + " = " + v + "; ";
    rope += v + " = " + operation(v, t, e, operand) + "; " + object.access("splitc_write") + "(" +
            object.arguments() + ", &" + v + ", sizeof " + v + "); ";
    if (!e->discarded)
        rope += (postfix ? old : v) + "; ";
    return std::move(rope) + "})";
}

Rope Lower::modify_bits(const Expr *e, const Expr *operand)
{
    const Type *record;
    std::string a = fresh("a"), v = fresh("v"), old = fresh("o"), mask = fresh("m");
    std::string field = "." + std::string(tokens_.spelling(strip(e->a)->name_token));
    Rope parent = parent_of_bits(strip(e->a), record);
    parent = instrumented(std::move(parent), Access::Change, "sizeof(" + type(record) + ")", e);
    const Type *t = e->a->type->unqualified;
    bool postfix = e->kind == ExprKind::PostInc && !e->discarded;
    return kBlock + ("splitc_ptr " + a) + " = " + std::move(parent) + "; " + declare(record, v) +
           ", " + mask + "; splitc_read(&" + v + ", " + a + ", sizeof " + v +
           "); __builtin_memset(&" + mask + ", 0, sizeof " + mask + "); " + mask + field + " = " +
           mask + field + " - 1; " +
           (postfix ? declare(t, old) + " = " + v + field + "; " : Rope()) + v + field +
           assigned(e, operand) + "; splitc_write_masked(" + a + ", &" + mask + ", &" + v +
           ", sizeof " + v + "); " + (e->discarded ? "" : (postfix ? old : v + field) + "; ") +
           "})";
}

// ++ and --.
Rope Lower::step(const Expr *e)
{
    bool postfix = e->kind == ExprKind::PostInc && !e->discarded;
    if (strip(e->a)->kind == ExprKind::Cast)
        return change_cast(e, nullptr, postfix);
    if (e->a->global)
        return modify(e, nullptr);
    if (!e->a->type->is_far())
        return generic(e);
    const Type *t = e->a->type->unqualified;
    return change_local(e, nullptr, t, postfix);
}

// Changes a far pointer in a local object.  The value is the old one if `postfix`.
Rope Lower::change_local(const Expr *e, const Expr *operand, const Type *t, bool postfix)
{
    std::string p = fresh("p"), old = fresh("o");
    bool simple = strip(e->a)->kind == ExprKind::Ident;
    Rope object = node(e->a);
    if (simple && !postfix)
        return "(" + object + " = " + operation(object, t, e, operand) + ")";
    // A register variable has no address; and a name can be evaluated twice.
    Rope rope(kBlock);
    if (!simple) {
        rope += quals_text(e->a->type->quals) + "splitc_ptr *" + p + " = &(" + object + "); ";
        object = "*" + p;
    }
    rope += "splitc_ptr " + old + " = " + object + "; ";
    if (postfix)
        return std::move(rope) + object + " = " + operation(old, t, e, operand) + "; " + old +
               "; })";
    return std::move(rope) + object + " = " + operation(old, t, e, operand) + "; })";
}

// `(T)x op= v` becomes `x = (typeof(x))((T)x op v)`, and has the type T, as in old GNU C.
Rope Lower::change_cast(const Expr *e, const Expr *operand, bool postfix)
{
    const Expr *cast = strip(e->a), *to = strip(cast->a);
    const Type *t = cast->type, *held = to->type->unqualified;
    std::string p = fresh("p"), old = fresh("o");
    const bool simple = to->kind == ExprKind::Ident;
    Rope object = simple ? node(to) : Rope("*" + p);
    Rope value = "((" + type(t) + ")" + object + ")";
    Rope changed = e->op == Tok::Assign ? node(operand) : operation(value, t, e, operand);
    Rope result = "((" + type(t) + ")(" + object + " = (" + type(held) + ")(" + type(t) + ")(" +
                  std::move(changed) + ")))";
    if (simple && !postfix)
        return result;
    Rope rope(kBlock);
    if (!simple)
        rope += declare(held, "*" + p) + " = &(" + node(to) + "); ";
    if (!postfix)
        return std::move(rope) + std::move(result) + "; })";
    return std::move(rope) + declare(t, old) + " = " + value + "; " + std::move(result) + "; " +
           old + "; })";
}

Rope Lower::assign(const Expr *e)
{
    if (strip(e->a)->kind == ExprKind::Cast)
        return change_cast(e, e->b, false);
    if (e->a->global)
        return e->op == Tok::Assign ? write(e->a, e->b, Access::Write, e->discarded)
                                    : modify(e, e->b);
    if (e->op != Tok::Assign && e->a->type->is_far())
        return change_local(e, e->b, e->a->type->unqualified, false);
    return generic(e);
}

Rope Lower::split_phase(const Expr *e)
{
    if (e->a->global)
        return write(e->a, e->b, Access::Put, true);
    if (e->b->global && strip(e->b)->kind == ExprKind::RunAtOwner)
        return run_at_owner(strip(e->b), e->a);
    if (e->b->global) {
        Rope size = size_of(e->b->type->unqualified);
        Target from = target(e->b, Access::Get, size, e);
        Rope place = hold_pointer(from);
        return kBlock + std::move(place) + from.access("splitc_get") + "(&(" + node(e->a) + "), " +
               from.arguments() + ", " + std::move(size) + "); })";
    }
    return "((void)((" + node(e->a) + ") = " + node(e->b) + "))"; // the get completes at once
}

} // namespace splitcc
