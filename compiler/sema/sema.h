// SPDX-License-Identifier: BSD-3-Clause
//
// The folder sema/ is semantic analysis: it finds the type of every expression and which of them
// designate objects in the global address space, and checks the rules of Split-C.  It includes ast/
// and what that includes.  The parser calls one function for each construct, after those of its
// operands; nothing here calls the parser.
//
// After value(), an operand no longer designates a global object, because value() puts a
// GlobalRead, GlobalDecay or SpreadDecay node around it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "ast/ast.h"
#include "diag/diag.h"
#include "sema/scope.h"
#include "sema/subobjects.h"

namespace splitcc {

// Returns a number of things for a message: "1 argument", "2 arguments".
std::string plural(size_t n, std::string_view thing);

class Sema {
public:
    Sema(Tokens &tokens, Ast &ast, Types &types, Names &names, Diagnostics &diag)
        : tokens_(tokens), ast_(ast), types_(types), names_(names), diag_(diag)
    {
    }

    // ---- expressions.  `e` has its kind, operator, operands and tokens; each function completes
    // it and sets its type.
    Expr *identifier(Expr *e, Name *name, bool called);
    Expr *number(Expr *e);
    Expr *character(Expr *e);
    Expr *string(Expr *e);
    Expr *paren(Expr *e);
    Expr *index(Expr *e);
    Expr *call(Expr *e);
    Expr *member(Expr *e, Name *name);
    Expr *step(Expr *e); // ++ and --
    Expr *unary(Expr *e);
    Expr *deref(Expr *e);
    Expr *address_of(Expr *e);
    Expr *cast(Expr *e);
    Expr *compound_literal(Expr *e);
    Expr *size(Expr *e); // sizeof, alignof
    Expr *binary(Expr *e);
    Expr *logical(Expr *e);
    Expr *conditional(Expr *e);
    Expr *comma(Expr *e);
    Expr *assign(Expr *e);
    Expr *split_phase(Expr *e);
    Expr *store(Expr *e);
    Expr *generic(Expr *e);
    Expr *choose(Expr *e);
    Expr *other(Expr *e, const Type *type); // an expression whose operands are plain values

    // ---- declarations.  All report what is wrong.

    // Returns false if a spread array cannot be declared like that.
    bool check_spread_array(const InitDeclarator &d, const Symbol &symbol);
    // Checks the type of splitc_main, which is called like main and may leave out parameters.
    void check_splitc_main(const InitDeclarator &d);
    // Compares with a declaration of the same name in the same scope.  Returns false if that is of
    // another kind of thing, which the name stays.
    void check_old_style(const InitDeclarator &d, const Type *definition);
    Expr *parameter_as_pointer(Expr *e);
    bool check_redeclaration(const Symbol *old, const Symbol *fresh);
    // Returns the type that typeof of `e` names.  A parameter that is a spread array is a spread
    // pointer.
    const Type *typeof_value(const Expr *e);

    const std::vector<Symbol *> &implicit_functions() const { return implicit_; }
    bool note_pointer_result(const Expr *e, const Type *to);
    // Reports a name without a declaration, and suggests a similar one.
    void report_undeclared(const Name *name, uint32_t token);
    bool report_macro(const Expr *call);
    void check_called(const Expr *statement);

    // Checks what can be checked only after everything has been declared.
    void end_of_unit();

    // Returns the operand as a value (C17 6.3.2.1): a read, if it is a global object.
    Expr *value(Expr *e);
    Expr *integer_value(Expr *e, std::string_view what);
    bool check_waits(Expr *e);
    void check_condition(const Expr *condition);
    // Returns a full expression whose value is not used.
    Expr *discard(Expr *e);
    // Says whether the value of the expression, and so of the parts that give it, is used.
    void mark_discarded(Expr *e, bool discarded);

    // Returns the value converted to the type, as by an assignment.  `what` names the place in
    // messages ("assignment", "argument 2 of 'f'").
    Expr *convert(Expr *e, const Type *to, std::string_view what);

    // Returns a value of an initializer, converted to the type of the next object.
    Expr *initialize(Subobjects &objects, Expr *e);

    // Reports the use of a global object where a constant is needed, as the text `needed` says.
    void check_constant(const Expr *e, std::string_view needed, std::string_view instead = {});

    // Returns the type of `e` after lvalue conversion.
    const Type *value_type(const Expr *e);

    static bool is_null_constant(const Expr *e);

    Range range(const Node *n) const
    {
        if (n->last <= n->first)
            return tokens_[n->first].range();
        return tokens_.range(n->first, n->last);
    }
    // Returns the range of one token, for the caret of an operator.
    Range range(uint32_t token) const { return tokens_[token].range(); }

private:
    // expressions (sema_expr.cc)
    Expr *wrap(ExprKind kind, Expr *operand, const Type *type);
    Expr *operand(Expr *e);
    Expr *finish(Expr *e, const Type *type);
    Expr *fail(Expr *e, std::string_view message);
    Expr *spread_index(Expr *e);
    std::string_view far_pointer_maker(const Expr *e);

    // binary operators (sema_binary.cc)
    Expr *additive(Expr *e);
    bool can_step(const Expr *e, const Type *pointer);
    Expr *comparison(Expr *e);
    const Type *join_pointers(Expr *&a, Expr *&b, std::string_view what);

    // operators that change an object (sema_assign.cc), and casts as their left sides and as the
    // right sides of gets (sema_cast.cc)
    bool not_of_job(const Expr *e, uint32_t token);
    bool writable(const Expr *e, uint32_t token);
    bool not_const(const Expr *e, uint32_t token);
    enum class Place { None, Local, Global };
    Place place_of(const Expr *e) const;
    Expr *as_object(Expr *e, bool global);
    Expr *choice_as_object(Expr *e);
    const Expr *as_cast_of_object(const Expr *e);
    std::string instead_of_change(const Expr *e, const Expr *cast);
    Expr *change_cast(Expr *e, const Expr *cast);
    struct CastOfGlobal {
        Expr *object = nullptr; // that the get is of
        bool same_bytes = true; // the casts change nothing in memory
    };
    static CastOfGlobal cast_of_global(const Expr *e);
    static bool is_held_alike(const Type *a, const Type *b);
    Expr *local_split_phase(Expr *e);

    // conversions (sema_convert.cc)
    const Type *promote(const Type *type);
    const Type *arithmetic(const Type *a, const Type *b);
    Expr *to_far(Expr *e, const Type *far);
    Expr *named_far(Expr *e);
    Expr *unconverted(Expr *e, const Type *to, std::string_view what);
    void check_pointees(const Expr *e, const Type *from, const Type *to, std::string_view what);
    void check_pointers(const Expr *e, const Type *from, const Type *to, std::string_view what);

    // far pointers that become local ones (sema_local.cc)
    static bool is_typed_here(const Symbol *symbol);
    Expr *typed_call(Expr *e);
    Expr *to_local(Expr *e);
    Expr *to_proc(Expr *e);
    Expr *retyped_local(Expr *e, const Type *to);
    void warn_of_escape(const Expr *e, const Type *from, std::string_view what);
    void warn_of_local_cast(const Expr *e);
    void note_declaration(const Report &report, const Expr *e);

    // functions that run elsewhere (sema_remote.cc)

    // The use of a function as handler in a call of <split-c/am.h>, and how that call will call it.
    struct HandlerUse {
        Range where;
        Name *function;
        std::string call;
        size_t arguments; // behind the source
        bool real;        // the last argument is a double
        bool block;       // the first arguments are an address and a size
        bool cast;        // to another type, so that the program answers for it
    };
    const Type *promoted_argument(const Type *type);
    static std::string unfit_for_atomic(const Symbol *fn, size_t arguments);
    Expr *run_at_owner(Expr *e);
    void note_handler(const Expr *call);
    Expr *message_word(const Expr *call, size_t argument, const Type *to);
    void check_handler(const HandlerUse &use);
    std::vector<const Type *> passed_params(const Type *function);
    bool fits_handler(const Type *type, const HandlerUse &use);
    bool drops_words(const Type *type, const HandlerUse &use);
    std::optional<Handler> handler_of(Symbol *fn, const std::vector<const HandlerUse *> &uses);

    // names (sema_names.cc)
    bool has_header() const;
    std::string similar_name(const Name *name, uint32_t token) const;
    std::string about_header(const Name *name) const;
    bool old_macro(Expr *e, std::string_view name);
    void undeclared(Expr *e, Name *name);
    void note_implicit(const Report &report, const Expr *e);
    bool prints_text(const Expr *call, size_t i) const;
    void check_processor(const Expr *e); // of toglobal and tospread
    void check_argument_count(const Expr *call, const Type *function);
    const Type *builtin_result(std::string_view name);

    // declarations (sema_decl.cc)
    std::string wrong_dimension(const Extent &extent, bool fixed);

    // initializers (sema_init.cc)
    bool check_static(const Expr *e, const Type *type);

    // values that are lost (sema_value.cc)
    void check_kept(const Expr *e, const Type *to, std::string_view what,
                    const Expr *call = nullptr);
    void check_arguments_kept(const Expr *call, const std::vector<const Type *> &params);
    void check_kept_by_compound(const Expr *e);
    bool holds(const Type *to, const Expr *e);
    bool holds_result(const Type *to, const Expr *e);
    std::optional<double> real_constant(const Expr *e) const;
    bool is_bit_pattern(const Expr *e) const;
    std::string fitting_form(const Expr *call, const Type *type);
    std::string loss(const Expr *e, const Type *to);
    static bool reads_globally(const Expr *e);

    Tokens &tokens_;
    Ast &ast_;
    Types &types_;
    Names &names_;
    Diagnostics &diag_;
    std::vector<Name *> function_values_; // functions whose names are used as values
    std::vector<HandlerUse> handler_uses_;
    bool chosen_handlers_ = false;     // a call takes its handler from a variable
    std::vector<Symbol *> implicit_;   // functions that were called without a declaration
    std::set<uint32_t> pointer_calls_; // the first tokens of their calls that may be pointers
};

} // namespace splitcc
