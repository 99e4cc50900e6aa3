// SPDX-License-Identifier: BSD-3-Clause
//
// Functions that run on other processors.  Their arguments travel as a struct.  A function at the
// end of the unit, where everything is declared, unpacks it.
#include "lower/lower.h"

namespace splitcc {

// Returns the function that runs `fn` on the owner, and its registration.  `type` is the type of
// `fn` as this call uses it.
Rope Lower::runner(const std::string &id, std::string_view fn, const Type *type)
{
    const Type *result = type->base->unqualified;
    bool nothing = result->kind == TypeKind::Void, bare = type->params.size() == 1;
    std::string arguments = "struct " + id + "_arguments";
    Rope call = std::string(fn) + "(";
    call += type->params[0]->is_far() ? "splitc_from_local(splitc_object)" : "splitc_object";
    for (size_t i = 1; i < type->params.size(); i++)
        call += ", splitc_a.a" + std::to_string(i);
    call += ")";
    Rope rope = "static void " + id +
                "_run(void *splitc_object, const void *splitc_arguments, void *splitc_result) { "
                "(void)splitc_arguments; (void)splitc_result; ";
    if (!bare)
        rope += arguments +
                " splitc_a; __builtin_memcpy(&splitc_a, splitc_arguments, sizeof splitc_a); ";
    if (nothing)
        rope += std::move(call) + "; } ";
    else
        rope += declare(result, "splitc_r") + " = " + std::move(call) +
                "; __builtin_memcpy(splitc_result, &splitc_r, sizeof splitc_r); } ";
    return std::move(rope) + "static struct splitc_atomic " + id + " = {" + id + "_run, \"" +
           std::string(fn) + "\", " + (bare ? "0" : "sizeof(" + arguments + ")") + ", " +
           (nothing ? Rope("0") : "sizeof(" + declare(result, {}) + ")") +
           ", 0}; static void __attribute__((constructor)) " + id +
           "_register(void) { splitc_register_atomic(&" + id + "); }\n";
}

// Returns the members of the struct of arguments.
Rope Lower::argument_members(const Type *type)
{
    Rope members;
    for (size_t i = 1; i < type->params.size(); i++) {
        const Type *t = type->params[i]->unqualified;
        std::string name = "a" + std::to_string(i);
        // The pointee may have no name at file scope, so the struct holds void pointers.
        members += (t->is_local_pointer() ? "void *" + name : declare(t, name)) + "; ";
    }
    return members;
}

// Lowers atomic(fn, object, arguments...), or `to := atomic(...)`.
Rope Lower::run_at_owner(const Expr *e, const Expr *to)
{
    const Type *type = e->a->type;
    const Type *result = type->base->unqualified;
    bool nothing = result->kind == TypeKind::Void, bare = type->params.size() == 1;
    std::string id = fresh("atomic"), a = fresh("a"), r = fresh("r");
    if (!bare)
        pending_ += "struct " + id + "_arguments { " + argument_members(type) + "}; ";
    pending_ += "static struct splitc_atomic " + id + "; ";
    end_ += runner(id, e->args[0]->symbol->name->text, type);

    Rope values;
    for (size_t i = 2; i < e->args.size(); i++)
        values += (i > 2 ? ", " : "") +
                  Rope(type->params[i - 1]->is_local_pointer() ? "(void *)(" : "(") +
                  node(e->args[i]) + ")";
    Rope rope = kBlock + enter(e, "atomic");
    if (!bare)
        rope += "struct " + id + "_arguments " + a + " = { " + std::move(values) + " }; ";
    Rope operands = "(&" + id + ", " + node(e->args[1]) + ", " + (bare ? "(void *)0" : "&" + a);
    if (to)
        return std::move(rope) + "splitc_begin_atomic" + std::move(operands) + ", &(" + node(to) +
               ")); })";
    if (!nothing)
        rope += declare(result, r) + "; ";
    return std::move(rope) + "splitc_run_atomic" + std::move(operands) + ", " +
           (nothing ? "(void *)0" : "&" + r) + "); " + (nothing || e->discarded ? "" : r + "; ") +
           "})";
}

namespace {

// Returns the call of a handler with its parameters, behind the source, out of an array.
std::string handler_call(const Handler &handler)
{
    const std::vector<const Type *> &params = handler.params;
    std::string arguments = params.empty() ? "" : "splitc_source";
    for (size_t i = 1; i < params.size(); i++) {
        const bool real = params[i]->kind == TypeKind::Double;
        arguments += std::string(params[i]->is_local_pointer() ? ", (void *)" : ", ") +
                     "splitc_a[" + std::to_string(i - 1) + (real ? "].real" : "].word");
    }
    return std::string(handler.function->name->text) + "(" + arguments + ")";
}

// Returns the SPLITC_HANDLER_... of a handler.
std::string handler_flags(const Handler &handler)
{
    const bool real = !handler.params.empty() && handler.params.back()->kind == TypeKind::Double;
    return std::string(real ? "SPLITC_HANDLER_REAL" : "0") +
           (handler.words ? " | SPLITC_HANDLER_WORDS" : "") +
           (handler.elsewhere ? " | SPLITC_HANDLER_ELSEWHERE" : "");
}

// Returns what struct splitc_handler says of the number of arguments.
std::string handler_arguments(const Handler &handler)
{
    return handler.least ? "-1 - " + std::to_string(*handler.least)
                         : std::to_string(handler.params.size() - 1);
}

} // namespace

// Returns the table of handlers of active messages, and a constructor that registers it.
Rope Lower::handlers(const std::vector<Handler> &handlers)
{
    Rope table;
    std::string functions;
    for (const Handler &handler : handlers) {
        const std::string name(handler.function->name->text), run = fresh("handler");
        functions += "static void " + run +
                     "(int splitc_source, const union splitc_argument *splitc_a) { "
                     "(void)splitc_source; (void)splitc_a; " +
                     handler_call(handler) + "; } ";
        table += "{(void (*)(void))" + name + ", " + run + ", \"" + name + "\", " +
                 handler_arguments(handler) + ", " + handler_flags(handler) + "}, ";
    }
    if (handlers.empty())
        return {};
    return std::move(functions) + "static const struct splitc_handler splitc_handlers[] = {" +
           std::move(table) +
           "}; static void __attribute__((constructor)) "
           "splitc_handlers_register(void) { splitc_register_handlers(splitc_handlers, " +
           std::to_string(handlers.size()) + "); }\n";
}

} // namespace splitcc
