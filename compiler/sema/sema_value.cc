// SPDX-License-Identifier: BSD-3-Clause
//
// -Wvalue-loss: numbers that lose a part of their value when a function of the library or a global
// object takes them.  C converts them silently, but such code was mostly written for machines on
// which int and long had the same size.
#include "sema/literals.h"
#include "sema/sema.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace splitcc {
namespace {

bool is_real(const Type *type)
{
    return type->kind >= TypeKind::Float && type->kind <= TypeKind::LDouble;
}

bool is_number(const Type *type)
{
    return type->is_integer() || is_real(type);
}

bool is_unsigned_64(const Type *type)
{
    return type->kind == TypeKind::ULong || type->kind == TypeKind::ULLong;
}

// Returns whether one type of number holds the values of the other.  C turns narrow values into
// ints, so an int may stand for one; and signs are not checked.
bool holds_type(const Type *to, const Type *from)
{
    if (!is_number(to) || !is_number(from) || to->kind == TypeKind::Bool)
        return true;
    if (is_real(to) != is_real(from))
        return is_real(to);
    return size_of(from) <= std::max<int64_t>(4, size_of(to).value_or(16));
}

bool holds_integer(const Type *to, int64_t value, const Type *from)
{
    if (!to->is_integer() || to->kind == TypeKind::Bool)
        return true;
    return literals::wrap(value, to) == value &&
           (value >= 0 || is_unsigned_64(to) == is_unsigned_64(from));
}

bool holds_real(const Type *to, double value)
{
    if (is_real(to))
        return to->kind != TypeKind::Float || !std::isfinite(value) ||
               std::fabs(value) <= std::numeric_limits<float>::max();
    return !to->is_integer() ||
           (std::trunc(value) == value && std::fabs(value) < 0x1p63 &&
            literals::wrap(static_cast<int64_t>(value), to) == static_cast<int64_t>(value));
}

// Returns whether the C compiler warns of this constant, because no type of that size holds it.
bool is_overflow(const Type *to, int64_t value)
{
    auto bytes = size_of(to);
    if (!bytes || *bytes >= 8)
        return false;
    int64_t beyond = int64_t{1} << (8 * *bytes);
    return value >= beyond || value < -beyond / 2;
}

// Returns the operator of a compound assignment.
Tok operator_of(Tok assignment)
{
    switch (assignment) {
    case Tok::AddAssign:
        return Tok::Plus;
    case Tok::SubAssign:
        return Tok::Minus;
    case Tok::MulAssign:
        return Tok::Star;
    case Tok::DivAssign:
        return Tok::Slash;
    case Tok::ModAssign:
        return Tok::Percent;
    case Tok::AndAssign:
        return Tok::Amp;
    case Tok::OrAssign:
        return Tok::Pipe;
    case Tok::XorAssign:
        return Tok::Caret;
    default: // for shifts, the left operand decides
        return Tok::Shl;
    }
}

// Returns the letter for the type in names of the library, as in all_bcast_l.
std::string letter_of(const Type *type)
{
    switch (type->kind) {
    case TypeKind::Long:
    case TypeKind::LLong:
        return "l";
    case TypeKind::UInt:
        return "u";
    case TypeKind::ULong:
    case TypeKind::ULLong:
        return "ul";
    case TypeKind::Float:
        return "f";
    case TypeKind::Double:
        return "d";
    default:
        return "i";
    }
}

// Returns the possible names of the variant of a function for that letter: all_bcast_l for
// all_bcast and all_bcast_i, all_scan_lmax for all_scan_max and all_scan_dmax.
std::vector<std::string> names_of_forms(std::string_view name, const std::string &letter)
{
    const size_t behind = name.rfind('_') + 1;
    const std::string stem(name.substr(0, behind)), last(name.substr(behind));
    std::vector<std::string> names = {stem + letter, std::string(name) + "_" + letter};
    if (last.size() >= 3) // add, max, min
        names.push_back(stem + (letter == "i" ? "" : letter) + last.substr(last.size() - 3));
    return names;
}

} // namespace

// Returns the value of a floating constant.
std::optional<double> Sema::real_constant(const Expr *e) const
{
    e = strip(e);
    if (e->kind == ExprKind::Unary && (e->op == Tok::Minus || e->op == Tok::Plus)) {
        auto value = real_constant(e->a);
        return value && e->op == Tok::Minus ? -*value : value;
    }
    if (e->kind != ExprKind::Number || !is_real(e->type))
        return {};
    return std::strtod(std::string(tokens_.spelling(e->first)).c_str(), nullptr);
}

// Returns whether the constant is a pattern of bits, such as ~0 or 0xffffffff.
bool Sema::is_bit_pattern(const Expr *e) const
{
    e = strip(e);
    if (e->kind == ExprKind::Unary)
        return e->op == Tok::Tilde;
    return e->kind == ExprKind::Number && tokens_.spelling(e->first).size() > 1 &&
           tokens_.spelling(e->first)[0] == '0';
}

// Returns whether the type holds the result of an operator, judged by its operands: in C the sum of
// two chars is an int, and the product of an int and a sizeof an unsigned long.
bool Sema::holds_result(const Type *to, const Expr *e)
{
    const bool integer = e->type->is_integer();
    switch (e->op) {
    case Tok::Plus:
    case Tok::Minus:
    case Tok::Star:
    case Tok::Pipe:
    case Tok::Caret:
        if (value_type(e->a)->is_pointer() || value_type(e->b)->is_pointer())
            return holds_type(to, e->type);
        return holds(to, e->a) && holds(to, e->b);
    case Tok::Slash:
        return holds(to, e->a) && (integer || (!to->is_integer() && holds(to, e->b)));
    case Tok::Percent:
    case Tok::Amp:
        return holds(to, e->a) || holds(to, e->b);
    case Tok::Shl:
        return holds(to, e->a);
    case Tok::Shr: {
        int64_t left = 8 * (size_of(e->type).value_or(0) - size_of(to).value_or(0));
        return holds(to, e->a) || e->b->value.value_or(0) >= left;
    }
    default:
        return holds_type(to, e->type);
    }
}

// Returns whether an object of that type holds the value of `e`, as far as this is known.
bool Sema::holds(const Type *to, const Expr *e)
{
    e = strip(e);
    const Type *from = value_type(e);
    if (to->kind == TypeKind::Bool) // C converts any value to 0 or 1
        return true;
    if (e->value && from->is_integer())
        return holds_integer(to, *e->value, from) ||
               (is_bit_pattern(e) && holds_type(to, from) && !is_overflow(to, *e->value));
    if (auto value = real_constant(e))
        return holds_real(to, *value);
    switch (e->kind) {
    case ExprKind::Unary:
        return e->op == Tok::Bang || holds(to, e->a);
    case ExprKind::Binary: // where C computes with ints, they may become narrower
        return holds_type(to, from) || holds_result(to, e);
    case ExprKind::Comma:
        return holds(to, e->b);
    case ExprKind::Conditional:
        return holds(to, e->b ? e->b : e->a) && holds(to, e->c);
    case ExprKind::Char:
    case ExprKind::SizeofExpr: // objects are taken to be small
    case ExprKind::SizeofType:
    case ExprKind::Offsetof:
        return true;
    case ExprKind::GlobalRead:
        return is_bit_field(e->a) || holds_type(to, from);
    default:
        return is_bit_field(e) || holds_type(to, from);
    }
}

// Returns the variant of the called function that takes the arguments as they are, or nothing.
std::string Sema::fitting_form(const Expr *call, const Type *type)
{
    for (const std::string &name : names_of_forms(call->a->symbol->name->text, letter_of(type))) {
        const Symbol *form = names_.declared(name);
        if (!form || !form->library || form->type->params.size() != call->args.size())
            continue;
        auto takes = [&](const Type *param, const Expr *arg) {
            const Type *given = value_type(arg);
            if (!param->is_pointer() || !given->is_pointer())
                return holds(param, arg);
            return compare_pointees(given->base, param->base) == Pointees::Compatible;
        };
        if (std::equal(form->type->params.begin(), form->type->params.end(), call->args.begin(),
                       takes))
            return name;
    }
    return {};
}

// Describes in a message what the value loses.
std::string Sema::loss(const Expr *e, const Type *to)
{
    const Type *from = value_type(e);
    if (e->value && from->is_integer()) {
        auto text = [](int64_t value, const Type *type) {
            return is_unsigned_64(type) ? std::to_string(static_cast<uint64_t>(value))
                                        : std::to_string(value);
        };
        return text(*e->value, from) + ", which becomes " + text(literals::wrap(*e->value, to), to);
    }
    std::string lost = to->is_integer() && is_real(from)              ? "fraction"
                       : is_real(to)                                  ? "precision"
                       : size_of(from) == 2 * size_of(to).value_or(0) ? "upper half"
                                                                      : "upper bits";
    return quoted(from) + ", which loses its " + lost;
}

// Whether C has no conversion of the one type to the other.
static bool is_inconvertible(const Type *from, const Type *to)
{
    const auto either = [&](auto is) { return is(from) || is(to); };
    if (either([](const Type *t) { return t->is_unknown() || t->kind == TypeKind::Opaque; }))
        return false;
    if (either([](const Type *t) { return t->kind == TypeKind::Record; }))
        return from->unqualified != to->unqualified;
    return either([](const Type *t) { return t->is_local_pointer(); }) &&
           either([](const Type *t) { return t->is_arithmetic() && !t->is_integer(); });
}

// Checks that an object of the type holds the value.  `call` is the call of the library function
// that the value is an argument of, or null.
void Sema::check_kept(const Expr *e, const Type *to, std::string_view what, const Expr *call)
{
    to = to->unqualified;
    if (is_inconvertible(value_type(e), to)) { // the C compiler would speak of an initializer
        diag_.error(range(e), std::string(what) + " cannot make " + quoted(to) + " from " +
                                  quoted(value_type(e)));
        return;
    }
    bool any_bits = call && call->a->symbol->name->text.starts_with("am_") && is_unsigned_64(to) &&
                    value_type(e)->is_integer(); // an am_word
    if (any_bits || holds(to, e))
        return;
    if (!call && e->value && is_overflow(to, *e->value))
        return; // the C compiler warns of it
    std::string form = call ? fitting_form(call, value_type(e)) : std::string();
    Report report =
        diag_.warning(range(e), "-Wvalue-loss",
                      std::string(what) + " makes " + quoted(to) + " from " + loss(e, to) + "; " +
                          (form.empty() ? "cast it if that is meant" : "use " + form));
    if (!form.empty())
        report.replace(range(call->a), form);
}

// Checks the arguments of a call of a library function.
void Sema::check_arguments_kept(const Expr *call, const std::vector<const Type *> &params)
{
    for (size_t i = 0; i < std::min(params.size(), call->args.size()); i++)
        check_kept(call->args[i], params[i],
                   "argument " + std::to_string(i + 1) + " of '" +
                       std::string(call->a->symbol->name->text) + "'",
                   call);
}

bool Sema::reads_globally(const Expr *e)
{
    return strip(e)->kind == ExprKind::GlobalRead;
}

// Checks the value of `a op= b`, which `a` takes.
void Sema::check_kept_by_compound(const Expr *e)
{
    Expr *result = ast_.expr(ExprKind::Binary);
    result->first = e->b->first;
    result->last = e->b->last;
    result->op = operator_of(e->op);
    result->a = e->a;
    result->b = e->b;
    result->type = arithmetic(value_type(e->a), value_type(e->b));
    check_kept(result, e->a->type, "assignment");
}

} // namespace splitcc
