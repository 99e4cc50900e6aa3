// SPDX-License-Identifier: BSD-3-Clause
//
// Expressions.  A global lvalue is its address, a splitc_ptr; reading and
// writing it are calls on that address.  New variables live in statement
// expressions and have names of their own, so that nothing of the user's is
// evaluated twice or captured.
#include "lower/lower.h"

namespace splitcc {
namespace {

bool is_bits(const Expr *e)
{
    e = strip(e);
    return e->member && e->member->bit_field;
}

bool is_null(const Expr *e)
{
    e = strip(e);
    if (e->kind == ExprKind::Cast && e->type->is_local_pointer() &&
        e->type->base->kind == TypeKind::Void)
        return is_null(e->a);
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

// An expression that moves to file scope: constants by value.
Rope Lower::hoisted(const Expr *e)
{
    if (e->value)
        return std::to_string(*e->value);
    bool leaf = e->kind == ExprKind::Ident || e->kind == ExprKind::Number;
    return leaf ? Rope::tokens(e->first, e->last) : generic(e);
}

// The value of a touched expression.
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
    case ExprKind::Store:
        return write(e->a, e->b, Access::Store, true);
    default:
        return generic(e);
    }
}

// ---- addresses

// The pointer that e is reached by, and how many bytes behind what it points to e is.  Both
// are on the same processor, so whoever looks for the window of the pointer finds the
// object's, and in a loop over an array the C compiler looks once.
Lower::Target Lower::locate(const Expr *e)
{
    e = strip(e);
    switch (e->kind) {
    case ExprKind::Deref:
        return locate_pointee(e->a);
    case ExprKind::Dot:
    case ExprKind::Arrow:
        return locate_member(e);
    case ExprKind::Index: {
        if (e->a->type->kind == TypeKind::SpreadArray)
            return {spread_element(e), {}};
        bool swapped = !e->a->type->is_far();
        const Expr *pointer = swapped ? e->b : e->a, *index = swapped ? e->a : e->b;
        return locate_element(pointer, block_index(e, pointer, index));
    }
    case ExprKind::Unary: { // a part of a complex number
        Target number = locate(e->a);
        if (e->op == Tok::KwReal)
            return number;
        return std::move(number) + ("sizeof(" + type(e->type->unqualified) + ")");
    }
    default:
        return {"(" + node(e) + ")", {}};
    }
}

// *p, where p may be a sum.
Lower::Target Lower::locate_pointee(const Expr *pointer)
{
    const Expr *sum = strip(pointer);
    if (sum->kind == ExprKind::Binary && sum->op == Tok::Plus) {
        if (sum->a->type->is_far())
            return locate_element(sum->a, node(sum->b));
        if (sum->b->type->is_far())
            return locate_element(sum->b, node(sum->a));
    }
    return {"(" + node(pointer) + ")", {}};
}

// p[index]
Lower::Target Lower::locate_element(const Expr *pointer, Rope index)
{
    const Type *t = pointer->type;
    if (t->space == Space::Spread)
        return {advance(node(pointer), t, std::move(index)), {}};
    const Expr *array = strip(pointer);
    Target target = array->kind == ExprKind::GlobalDecay ? locate(array->a)
                                                         : Target{"(" + node(pointer) + ")", {}};
    return std::move(target) + scaled(t, std::move(index));
}

// g->a.b: the offset of a.b in *g.
Lower::Target Lower::locate_member(const Expr *e)
{
    Rope path = spelling(e->name_token);
    const Expr *object = e;
    while (object->kind == ExprKind::Dot) {
        const Expr *inner = strip(object->a);
        if (inner->kind != ExprKind::Dot && inner->kind != ExprKind::Arrow)
            return locate(inner) + offset_of(inner->type, std::move(path));
        object = inner;
        path = Rope(spelling(object->name_token)) + "." + std::move(path);
    }
    return locate_pointee(object->a) + offset_of(object->a->type->base, std::move(path));
}

Rope Lower::offset_of(const Type *record, Rope path)
{
    return "__builtin_offsetof(" + type(record->unqualified) + ", " + std::move(path) + ")";
}

Rope Lower::address(const Expr *e)
{
    Target target = locate(e);
    if (target.offset.empty())
        return std::move(target.pointer);
    return "(" + std::move(target.pointer) + " + " + std::move(target.offset) + ")";
}

std::string access_name(Access how)
{
    static const char *const names[] = {"read", "write", "get", "put", "store", "change"};
    return names[static_cast<int>(how)];
}

// A whole address, where its access is looked at.
Rope Lower::reached(Rope address, Access how, Rope size, const Expr *e)
{
    Rope good = checked(std::move(address), how, size, e);
    return counted(std::move(good), how, std::move(size), e);
}

// What the ABI's accesses take for an object that they read or write: a pointer, and an
// offset if their name ends in _at.
Lower::Target Lower::target(const Expr *e, Access how, Rope size, const Expr *blamed)
{
    if (checks_)
        return {reached(address(e), how, std::move(size), blamed), {}};
    Target there = locate(e);
    there.pointer = counted(std::move(there.pointer), how, std::move(size), blamed);
    return there;
}

// Which dimension of its array that index is for, in words.
std::string Lower::spread_dimension(const Expr *e) const
{
    int dimension = 1;
    const Expr *base = strip(e->a);
    for (; base->kind == ExprKind::Index && base->a->type->kind == TypeKind::SpreadArray;
         base = strip(base->a))
        dimension++;
    bool only = base->type->spread.size() == 1;
    return (only ? "" : "dimension " + std::to_string(dimension) + " of ") + quoted_source(base);
}

// The row-major position of an element, or of a sub-array's first element.
Rope Lower::spread_position(const Expr *e, const Expr *&base)
{
    e = strip(e);
    if (e->kind != ExprKind::Index || e->a->type->kind != TypeKind::SpreadArray) {
        base = e;
        return {};
    }
    Rope before = spread_position(e->a, base);
    // A parameter may leave its first size open.
    bool checked = checks_ && e->a->type->spread.front()->size;
    Rope index = checked ? checked_index(node(e->b), extent(*e->a->type->spread.front()),
                                         spread_dimension(e), e)
                         : "(long)(" + node(e->b) + ")";
    if (before.empty())
        return index;
    const Type *array = strip(e->a)->type;
    return "(" + std::move(before) + ") * (long)(" + extent(*array->spread.front()) + ") + " +
           std::move(index);
}

// The address of an element; of a whole array or sub-array, that of its first block.
Rope Lower::spread_element(const Expr *e)
{
    const Expr *base = nullptr;
    Rope position = spread_position(e, base);
    Rope start = "(" + node(base) + ")";
    if (position.empty())
        return start;
    const Type *t = strip(e)->type, *block = t;
    if (t->kind == TypeKind::SpreadArray) {
        block = t->base;
        for (const Extent *rest : t->spread)
            position = "(" + std::move(position) + ") * (long)(" + extent(*rest) + ")";
    }
    return "splitc_spread_add(" + std::move(start) + ", " + std::move(position) + ", " +
           size_of(block) + ")";
}

// A far pointer moved on by a count of elements.
Rope Lower::advance(Rope pointer, const Type *t, Rope count)
{
    if (t->space == Space::Spread)
        return "splitc_spread_add(" + std::move(pointer) + ", (long)(" + std::move(count) + "), " +
               size_of(t->base) + ")";
    return "((" + std::move(pointer) + ") + " + scaled(t, std::move(count)) + ")";
}

// So many elements, in bytes.
Rope Lower::scaled(const Type *t, Rope count)
{
    return "(splitc_ptr)((long)(" + std::move(count) + ") * (long)" + size_of(t->base) + ")";
}

// ---- reading and writing

// The address of the struct that a bit-field is in.
Rope Lower::parent_of_bits(const Expr *e, const Type *&record)
{
    if (e->kind == ExprKind::Arrow) {
        record = e->a->type->base->unqualified;
        return "(" + node(e->a) + ")";
    }
    record = e->a->type->unqualified;
    return address(e->a);
}

// A variable for the pointer, and so code of its own at this line: where gcc inlines a
// call with no more to evaluate, it leaves a debugger no place to stop before.
Rope Lower::with_a_line(Target &target)
{
    std::string p = fresh("p");
    Rope rope = "splitc_ptr " + p + " = " + std::move(target.pointer) + "; ";
    target.pointer = p;
    return rope;
}

Rope Lower::read(const Expr *e)
{
    std::string v = fresh("v");
    if (is_bits(e)) {
        const Type *record;
        Rope parent = parent_of_bits(strip(e), record);
        Target from = {reached(std::move(parent), Access::Read, "sizeof " + v, e), {}};
        Rope place = with_a_line(from);
        return kBlock + declare(record, v) + "; " + std::move(place) + "splitc_read(&" + v + ", " +
               from.arguments() + ", sizeof " + v + "); " + v + "." +
               std::string(spelling(strip(e)->name_token)) + "; })";
    }
    Target from = target(e, Access::Read, "sizeof " + v, e);
    Rope place = with_a_line(from);
    return kBlock + declare(e->type->unqualified, v) + "; " + std::move(place) +
           from.access("splitc_read") + "(&" + v + ", " + from.arguments() + ", sizeof " + v +
           "); " + v + "; })";
}

// to = value by one of the runtime's functions.
Rope Lower::write(const Expr *to, const Expr *value, Access how, bool discarded)
{
    if (is_bits(to))
        return write_bits(to, value, discarded);
    std::string v = fresh("v");
    Rope text = kBlock + declare(to->type->unqualified, v) + " = " + node(value) + "; ";
    Target there = target(to, how, "sizeof " + v, to);
    return std::move(text) + there.access("splitc_" + access_name(how)) + "(" + there.arguments() +
           ", &" + v + ", sizeof " + v + "); " + (discarded ? "" : v + "; ") + "})";
}

// A bit-field is written through a mask of its bits, at the owner, in one step.
Rope Lower::write_bits(const Expr *to, const Expr *value, bool discarded)
{
    const Type *record;
    std::string v = fresh("v"), bits = fresh("b"), mask = fresh("m");
    std::string field = "." + std::string(spelling(strip(to)->name_token));
    Rope parent = parent_of_bits(strip(to), record);
    parent = reached(std::move(parent), Access::Write, "sizeof(" + type(record) + ")", to);
    return kBlock + declare(to->type->unqualified, v) + " = " + node(value) + "; " +
           declare(record, bits) + ", " + mask + "; __builtin_memset(&" + bits + ", 0, sizeof " +
           bits + "); __builtin_memset(&" + mask + ", 0, sizeof " + mask + "); " + mask + field +
           " = ~" + mask + field + "; " + bits + field + " = " + v + "; splitc_write_masked(" +
           std::move(parent) + ", &" + mask + ", &" + bits + ", sizeof " + bits + "); " +
           (discarded ? std::string() : bits + field + "; ") + "})";
}

// The value of `value op operand`, for the op of a compound assignment or step.
Rope Lower::operation(Rope value, const Type *t, const Expr *e, const Expr *operand)
{
    Rope count = operand ? node(operand) : Rope("1");
    bool down = e->op == Tok::SubAssign || e->op == Tok::Dec;
    if (t->is_far())
        return advance(std::move(value), t,
                       down ? "-(long)(" + std::move(count) + ")" : std::move(count));
    std::string op = operand ? std::string(spelling(e->name_token)) : down ? "-=" : "+=";
    op.pop_back();
    return std::move(value) + " " + op + " (" + std::move(count) + ")";
}

// Read, change, write back an object in the global address space.
Rope Lower::modify(const Expr *e, const Expr *operand)
{
    if (is_bits(e->a))
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
    std::string field = "." + std::string(spelling(strip(e->a)->name_token));
    Rope parent = parent_of_bits(strip(e->a), record);
    parent = reached(std::move(parent), Access::Change, "sizeof(" + type(record) + ")", e);
    const Type *t = e->a->type->unqualified;
    bool postfix = e->kind == ExprKind::PostInc && !e->discarded;
    return kBlock + ("splitc_ptr " + a) + " = " + std::move(parent) + "; " + declare(record, v) +
           ", " + mask + "; splitc_read(&" + v + ", " + a + ", sizeof " + v +
           "); __builtin_memset(&" + mask + ", 0, sizeof " + mask + "); " + mask + field + " = ~" +
           mask + field + "; " + (postfix ? declare(t, old) + " = " + v + field + "; " : Rope()) +
           v + field + " = " + operation(v + field, t, e, operand) + "; splitc_write_masked(" + a +
           ", &" + mask + ", &" + v + ", sizeof " + v + "); " +
           (e->discarded ? "" : (postfix ? old : v + field) + "; ") + "})";
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

// A far pointer held in a local object, moved.  Its old value, or the new one.
Rope Lower::change_local(const Expr *e, const Expr *operand, const Type *t, bool postfix)
{
    std::string p = fresh("p"), old = fresh("o");
    bool simple = strip(e->a)->kind == ExprKind::Ident;
    Rope object = node(e->a);
    if (simple && !postfix)
        return "(" + object + " = " + operation(object, t, e, operand) + ")";
    // A register variable has no address; a name needs none.
    Rope rope(kBlock);
    if (!simple) {
        rope += "splitc_ptr *" + p + " = &(" + object + "); ";
        object = "*" + p;
    }
    rope += "splitc_ptr " + old + " = " + object + "; ";
    if (postfix)
        return std::move(rope) + object + " = " + operation(old, t, e, operand) + "; " + old +
               "; })";
    return std::move(rope) + object + " = " + operation(old, t, e, operand) + "; })";
}

// (T)x op= v is x = (typeof(x))((T)x op v), and has the type T: the cast-lvalues of old GNU C.
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
    if (e->b->global) {
        Rope size = size_of(e->b->type->unqualified);
        Target from = target(e->b, Access::Get, size, e);
        Rope place = with_a_line(from);
        return kBlock + std::move(place) + from.access("splitc_get") + "(&(" + node(e->a) + "), " +
               from.arguments() + ", " + std::move(size) + "); })";
    }
    return "((void)((" + node(e->a) + ") = " + node(e->b) + "))"; // complete at once
}

// ---- conversions

Rope Lower::convert(const Expr *e)
{
    if (!e->type->is_far())
        return "splitc_address(" + node(e->a) + ")";
    if (is_null(e->a))
        return "(splitc_ptr)0";
    return "splitc_from_local(" + node(e->a) + ")";
}

Rope Lower::cast(const Expr *e)
{
    const Type *to = e->type;
    const Type *from = e->a->type;
    bool drops_processor = to->is_pointer() && !to->is_far() && from->is_far();
    if (!to->is_far() && !drops_processor && !e->type_name->touched)
        return generic(e);
    Rope operand = node(e->a); // once: what is in it may be as deep again
    if (to->is_far()) {
        bool local = from->kind == TypeKind::Array || from->is_local_pointer();
        if (local && !is_null(e->a))
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

// sizeof and alignof, of a type that the source's own text no longer names.
Rope Lower::size(const Expr *e)
{
    const Type *t = e->kind == ExprKind::SizeofType ? e->type_name->type : e->a->type;
    if (e->op != Tok::KwSizeof)
        return "__alignof__(" + type(t->kind == TypeKind::SpreadArray ? t->base : t) + ")";
    if (t->kind == TypeKind::SpreadArray)
        return "(" + block_count(t) + " * " + size_of(t->base) + ")";
    if (t->is_unknown() || (e->type_name && e->type_name->specifiers.body))
        return generic(e);
    return size_of(t);
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
                   std::string(spelling(e->name_token)) + " splitc_spread_order(" + node(e->b) +
                   "))";
        break;
    default:
        break;
    }
    return "((" + node(e->a) + ") " + std::string(spelling(e->name_token)) + " (" + node(e->b) +
           "))";
}

} // namespace splitcc
