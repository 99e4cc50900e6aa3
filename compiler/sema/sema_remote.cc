// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that run on other processors: atomic(), and handlers of active messages.  They have to
// be named where they are used, because a function's address means nothing on another processor.
#include "sema/sema.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace splitcc {
namespace {

// Returns the function that an expression names, or null.
Symbol *named_function(const Expr *e)
{
    while (e->kind == ExprKind::Paren || e->kind == ExprKind::AddressOf ||
           e->kind == ExprKind::Deref)
        e = e->a;
    return e->kind == ExprKind::Ident && e->symbol && e->symbol->kind == SymbolKind::Function
               ? e->symbol
               : nullptr;
}

// Returns whether the result fits into a reply.
bool returns_scalar(const Type *function)
{
    const Type *result = function->base;
    return result->kind == TypeKind::Void || result->is_pointer() ||
           (result->is_arithmetic() && size_of(result) <= 24);
}

// Behind the source: the address and the size of a block, and words.
constexpr size_t kHandlerArguments = 6;

// Returns whether a word of a message can hold the parameter.
bool fits_word(const Type *t)
{
    return t->is_pointer() || (t->is_integer() && size_of(t) <= 8);
}

bool is_real(const Type *t)
{
    return t->kind == TypeKind::Double;
}

// Returns the parameters after the source, as the runtime passes them, for a message.
std::string handler_parameters(size_t count, bool real, bool block)
{
    if (block && count == 3)
        return ", void *address, splitc_size n, am_word arg";
    std::string text = block ? ", void *address, splitc_size n" : "";
    for (size_t i = 0; i < count - real - (block ? 2 : 0); i++)
        text += ", am_word w" + std::to_string(i);
    return text + (real ? ", double d" : "");
}

bool returns_like_handler(const Type *function)
{
    return function->base->kind == TypeKind::Void || function->base->is_integer();
}

// Returns whether the runtime can call it as a handler: a source, then words and perhaps a double,
// or a block and words.
bool is_handler(const Type *function, const std::vector<const Type *> &params)
{
    if (params.empty() || !params[0]->is_integer() || function->variadic ||
        !returns_like_handler(function))
        return false;
    size_t words = params.size() - (is_real(params.back()) ? 2 : 1);
    const bool block = words > 4 && words <= 6 && !is_real(params.back()) &&
                       params[1]->is_pointer() && params[2]->is_integer();
    return (words <= 4 || block) &&
           std::all_of(params.begin() + 1, params.begin() + 1 + static_cast<std::ptrdiff_t>(words),
                       fits_word);
}

} // namespace

// Returns the type after the default argument promotions (C17 6.5.2.2).
const Type *Sema::promoted_argument(const Type *type)
{
    return type->kind == TypeKind::Float ? types_.basic(TypeKind::Double) : promote(type);
}

// Returns why atomic() cannot run that function with so many arguments; empty if it can.
std::string Sema::unfit_for_atomic(const Symbol *fn, size_t arguments)
{
    const Type *type = fn->type;
    std::string name = "'" + std::string(fn->name->text) + "'";
    if (!fn->file_scope)
        return name + " has to be declared at file scope to run elsewhere";
    if (!returns_scalar(type))
        return name + " cannot be run by atomic(): it has to return a scalar or nothing, not '" +
               describe(type->base) + "'";
    if (!type->prototype)
        return {};
    if (type->params.empty() || !type->params[0]->is_pointer())
        return name + " cannot be run by atomic(): its first parameter has to be a pointer to "
                      "the object";
    if (type->params.size() != arguments + 1)
        return "atomic() passes " + plural(arguments + 1, "argument") + " to " + name +
               ", which has " + plural(type->params.size(), "parameter");
    return {};
}

// atomic(fn, object, arguments...)
Expr *Sema::run_at_owner(Expr *e)
{
    if (e->args.size() < 2)
        return fail(e, "atomic() needs a function and a global pointer to the object it is for");
    Symbol *fn = named_function(e->args[0]);
    if (!fn) {
        if (!e->args[0]->type->is_unknown())
            diag_.error(range(e->args[0]), "atomic() needs the name of a function: other "
                                           "processors do not know what a pointer points to here");
        return finish(e, types_.unknown());
    }
    if (std::string why = unfit_for_atomic(fn, e->args.size() - 2); !why.empty())
        return fail(e, why);
    std::vector<const Type *> params = fn->type->params;
    if (!fn->type->prototype)
        params = {types_.pointer(types_.basic(TypeKind::Void))};
    e->args[1] = convert(e->args[1], types_.pointer(params[0]->base, Space::Global),
                         "argument 2 of 'atomic'");
    for (size_t i = 2; i < e->args.size(); i++) {
        if (!fn->type->prototype)
            params.push_back(promoted_argument(value_type(e->args[i])));
        std::string what =
            "argument " + std::to_string(i) + " of '" + std::string(fn->name->text) + "'";
        e->args[i] = convert(e->args[i], params[i - 1], what);
        check_kept(e->args[i], params[i - 1], what);
    }
    // e->a gets the type of the call as it is made, and the first argument's symbol is the
    // function.
    e->kind = ExprKind::RunAtOwner;
    e->touched = true;
    e->args[0]->symbol = fn;
    e->a->type = types_.function(fn->type->base, std::move(params), true, false);
    return finish(e, fn->type->base->unqualified);
}

// ---- handlers of active messages (split-c/am.h)

namespace {

// Where a call of <split-c/am.h> has the handler, and the words that the handler gets.
struct MessageForm {
    size_t handler, words;
};

std::optional<MessageForm> message_form(std::string_view name)
{
    if (name == "am_reply_xfer" || name == "am_store" || name == "am_store_async" ||
        name == "am_get")
        return MessageForm{4, 5};
    if (!name.starts_with("am_request_") && !name.starts_with("am_reply_"))
        return {};
    return MessageForm{1, name.find("_medium") == name.npos ? size_t{2} : size_t{4}};
}

// Whether a function that nothing declares is one of <split-c/am.h> to which handlers are given.
bool sends_message(const Symbol *fn)
{
    const std::string_view name = fn->name->text;
    return fn->implicit && (name == "am_request" || name == "am_reply" || message_form(name));
}

} // namespace

// If this call takes a handler, remembers how it will call it, for check_handler().
void Sema::note_handler(const Expr *call)
{
    std::string_view name = call->a->symbol->name->text;
    const std::optional<MessageForm> form = message_form(name);
    const size_t at = form ? form->handler : 0;
    if (!form || at >= call->args.size())
        return;
    if (std::exchange(ast_.implied_messages, false))
        diag_.warning(range(call->a), "-Wimplicit-function-declaration",
                      "'" + std::string(name) +
                          "' is not declared, and is taken for that of the "
                          "library; #include <split-c/am.h> for it, or declare the program's own");
    const Expr *handler = call->args[at];
    const bool cast = strip(handler)->kind == ExprKind::Cast;
    const Symbol *fn = named_function(cast ? strip(handler)->a : handler);
    chosen_handlers_ |= !fn;
    if (!fn)
        return;
    // In old programs handlers return int, as nothing is said; the C compiler need not know.
    if (!cast && fn->type && fn->type->kind == TypeKind::Function && !fn->type->prototype &&
        fn->type->base->kind == TypeKind::Int)
        ast_.replaced.emplace_back(Replacement{handler->first, handler->first, {}}).text =
            "(void (*)(void))";
    const bool real = name.ends_with("_df"), block = form->words != 2;
    const size_t digit = name.find_first_of("01234");
    const size_t words =
        digit == name.npos ? 1 : static_cast<size_t>(name[digit] - '0') + (real ? 1 : 0);
    handler_uses_.push_back(
        {range(handler), fn->name, std::string(name), words + (block ? 2 : 0), real, block, cast});
}

// Words of active messages may be pointers as well as integers.
Expr *Sema::message_word(const Expr *call, size_t argument, const Type *to)
{
    Expr *e = value(call->args[argument]);
    const Symbol *fn = call->a->symbol;
    if (!fn || !fn->library || !to->is_integer() || !value_type(e)->is_pointer())
        return e;
    const std::optional<MessageForm> form = message_form(fn->name->text);
    return form && argument >= form->words ? wrap(ExprKind::Convert, e, to) : e;
}

// Returns the parameters of a function as it is called: those of old style are promoted.
std::vector<const Type *> Sema::passed_params(const Type *function)
{
    std::vector<const Type *> params = function->params;
    if (!function->prototype)
        for (const Type *&param : params)
            param = promoted_argument(param->unqualified);
    return params;
}

// A function takes fewer arguments than it gets, if need be, as it did where they were in
// registers.
bool Sema::fits_handler(const Type *type, const HandlerUse &use)
{
    const std::vector<const Type *> params = passed_params(type);
    const size_t arguments = use.arguments + 1;
    if (params.size() < 2)
        return returns_like_handler(type) && !type->variadic &&
               (params.empty() || params[0]->is_integer());
    if (!is_handler(type, params) ||
        params.size() + (use.real && !is_real(params.back())) > arguments)
        return false;
    if (type->prototype && params.size() == arguments)
        return is_real(params.back()) == use.real;
    if (is_real(params.back()) || use.block)
        return is_real(params.back()) == use.real && (!use.block || params[1]->is_pointer());
    return !(use.real && params[1]->is_pointer());
}

// Returns whether the call sends a function with a prototype more than that takes.
bool Sema::drops_words(const Type *type, const HandlerUse &use)
{
    return type->prototype && type->params.size() < use.arguments + 1 && fits_handler(type, use);
}

void Sema::check_handler(const HandlerUse &use)
{
    const Symbol *fn = use.function->ordinary;
    std::string what =
        "'" + std::string(use.function->text) + "' cannot be the handler of " + use.call;
    if (!fn || fn->kind != SymbolKind::Function)
        return void(diag_.error(use.where, what + ": it has to be declared at file scope"));
    const Type *type = fn->type;
    if (use.cast)
        return;
    if (drops_words(type, use))
        diag_.warning(use.where, "-Wincompatible-pointer-types",
                      "'" + std::string(use.function->text) + "' takes fewer arguments than the " +
                          "'void (int source" +
                          handler_parameters(use.arguments, use.real, use.block) + ")' that " +
                          use.call + " calls: what it does not take is dropped");
    else if (!fits_handler(type, use))
        diag_.error(use.where,
                    what + ", which calls it as 'void (int source" +
                        handler_parameters(use.arguments, use.real, use.block) + ")'; it is '" +
                        describe(types_.function(type->base, type->params,
                                                 type->prototype || !type->params.empty(),
                                                 type->variadic)) +
                        "'");
}

// Returns how messages call a function, if it can be a handler; `uses` are the calls that name it.
std::optional<Handler> Sema::handler_of(Symbol *fn, const std::vector<const HandlerUse *> &uses)
{
    const Type *type = fn->type;
    Handler handler;
    handler.function = fn;
    handler.params = passed_params(type);
    std::vector<const Type *> &params = handler.params;
    const bool drops = chosen_handlers_ || std::any_of(uses.begin(), uses.end(), [&](auto *use) {
                           return drops_words(type, *use);
                       });
    if (is_handler(type, params)) {
        if (type->prototype && !drops)
            return handler;
        handler.least = params.size() - 1;
        handler.words = params.size() > 1 && !params[1]->is_pointer() && !is_real(params.back());
        return handler;
    }
    if ((type->prototype && !drops) || !params.empty() || !returns_like_handler(type) ||
        (uses.empty() && !chosen_handlers_))
        return {};
    handler.least = 0;
    if (type->prototype || ast_.defines(fn->name))
        return handler;
    if (uses.empty())
        return {};
    const size_t arguments = uses[0]->arguments;
    const bool any_real =
        std::any_of(uses.begin(), uses.end(), [](auto *use) { return use->real; });
    const bool alike = std::all_of(uses.begin(), uses.end(), [&](auto *use) {
        return use->real && use->arguments == arguments;
    });
    params = {types_.basic(TypeKind::Int)};
    params.insert(params.end(), alike ? arguments - 1 : kHandlerArguments,
                  types_.basic(TypeKind::ULong));
    if (alike) {
        params.push_back(types_.basic(TypeKind::Double));
        handler.least = arguments;
    }
    handler.words = any_real && !alike;
    handler.elsewhere = true;
    return handler;
}

void Sema::end_of_unit()
{
    const Symbol *table = names_.declared("splitc_register_handlers");
    if (!table) { // <split-c/am.h> is not included
        ast_.wants_messages = std::ranges::any_of(implicit_, sends_message);
        return;
    }
    std::map<const Name *, std::vector<const HandlerUse *>> uses;
    for (const HandlerUse &use : handler_uses_) {
        check_handler(use);
        uses[use.function].push_back(&use);
    }
    std::set<const Name *> seen;
    for (const Name *name : function_values_) {
        Symbol *fn = name->ordinary;
        if (!fn || fn->kind != SymbolKind::Function || fn->library || !seen.insert(name).second)
            continue;
        if (auto handler = handler_of(fn, uses[name]))
            ast_.handlers.push_back(std::move(*handler));
    }
}

} // namespace splitcc
