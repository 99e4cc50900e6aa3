// SPDX-License-Identifier: BSD-3-Clause
//
// The folder parse/ is the parser: C17 and GNU C as gcc accepts it, and Split-C.  It includes sema/
// and what that includes.  It is a recursive descent; above each function stands the production
// that it parses.  A production first parses its operands, then hands its node to Sema.
#pragma once

#include <map>
#include <vector>

#include "ast/ast.h"
#include "diag/diag.h"
#include "sema/scope.h"
#include "sema/sema.h"

namespace splitcc {

// Thrown to give up a construct.  Statements, members and external declarations catch it.
struct SyntaxError {};

class Parser {
public:
    Parser(const Source &source, Tokens &tokens, Names &names, Types &types, Ast &ast,
           Diagnostics &diag);

    void translation_unit();

private:
    // tokens, errors and recovery (parse.cc)
    Token peek(uint32_t ahead = 0) const { return tokens_[pos_ + ahead]; }
    bool is(Tok kind) const { return peek().kind == kind; }
    bool is_name(const Name *name) const { return is(Tok::Ident) && peek().name == name; }
    bool accept(Tok kind);
    void expect(Tok kind, const char *what);
    bool touching(uint32_t ahead) const; // no space is between this token and the one before
    bool is_pair(Tok second) const;      // `:` and `second`, without a space between
    [[noreturn]] void fail(Range where, std::string_view message);
    Report missing(std::string_view wanted);
    [[noreturn]] void unexpected(std::string_view wanted);
    void semicolon(const char *what);
    bool before_a_word() const;
    bool before_specifiers();
    enum class Among { Declarations, Statements };
    bool take_as_type(Among among);
    [[noreturn]] void unknown_word();
    bool endless_string() const;
    Range range_before() const;
    void recover(uint32_t from);
    void take_as_declared(uint32_t from);
    void skip_balanced();

    // the translation unit (parse.cc)
    void builtin_typedefs();
    void external_declaration();
    void block_of_nothing();
    void note_hidden(Symbol *symbol);

    // declarations and function definitions (parse_decl.cc)
    Declaration *declaration();
    void init_declarators(Declaration *declaration);
    void init_declarator(Declaration *declaration);
    bool at_definition(const Declarator &d);
    bool without_brace() const;
    void after_declarator(InitDeclarator &d);
    bool mentions_job(const Expr *e) const;
    void check_size(const InitDeclarator &d);
    void check_nested(const InitDeclarator &d, const Specifiers &s);
    void function_body(Declaration *declaration);
    bool declares_again() const;
    bool body_behind_declarations(uint32_t at) const;
    void skip_declarations();
    void old_style_parameters(Declaration *declaration);
    void old_style_arguments(const Declaration &declaration, const Part &function);
    void old_style_parameter(Declaration *declaration, const Part &function);
    bool note_library(Declaration *declaration);
    void replace_library(const InitDeclarator &d, const Specifiers &s, bool definition);
    Symbol *declare(InitDeclarator &d, const Specifiers &s, DeclarationRole role);

    // initializers (parse_init.cc)
    bool accept_initializer(const InitDeclarator &d);
    Node *initializer(Subobjects &objects);
    InitList *initializer_list(Subobjects &objects);
    void initializer_item(InitList *list, Subobjects &objects);
    void designation(InitList *list, Subobjects &objects);
    void index_designator(InitList *list, Subobjects &objects);

    // specifiers (parse_type.cc)
    bool starts_declaration(uint32_t ahead = 0) const;
    bool starts_type(uint32_t ahead = 0) const;
    void specifiers(Specifiers &s, bool allow_storage);
    bool ends_at_second_type(const struct TypeWords &words);
    bool specifier(Specifiers &s, struct TypeWords &words, bool allow_storage);
    bool storage_specifier(Specifiers &s);
    void typeof_specifier(Specifiers &s, struct TypeWords &words);
    const Type *finish_type(Specifiers &s, struct TypeWords &words);

    // structs, unions and enumerations (parse_record.cc)
    Symbol *tag(Name *name, bool defining);
    void wrong_tag(uint32_t token, const Symbol *symbol, std::string_view what);
    const Type *record_specifier(Specifiers &s);
    bool member_declarations(RecordBody *body);
    void missing_record_end(const Record *record, uint32_t token, const std::string &what);
    bool at_other_declaration() const;
    Declaration *member_declaration(Record *record);
    void member_declarator(Declaration *declaration, Record *record);
    const Type *enum_specifier(Specifiers &s);
    void enumerators(Specifiers &s, Enumeration *enumeration);

    // attributes (parse_attribute.cc)
    void attributes();
    void attribute();
    void alignment();
    uint32_t behind_attributes(uint32_t at) const;
    bool attribute_before_type(uint32_t ahead) const;

    // declarators (parse_declarator.cc)
    enum class Abstract { No, Maybe, Yes };
    void declarator(Declarator &d, Abstract abstract, bool parameter);
    void pointer_part(Declarator &d, std::vector<Part> &pointers, Abstract abstract,
                      bool parameter);
    bool is_space_word() const { return is_name(global_) || is_name(spread_); }
    void check_word_before_name();
    bool is_space_qualifier(Abstract abstract, bool parameter) const;
    bool may_follow_name(uint32_t ahead) const;
    bool names_follow(uint32_t ahead) const;
    void direct_declarator(Declarator &d, Abstract abstract, bool parameter);
    bool nested_declarator(Abstract abstract) const;
    bool before_body() const;
    void declarator_suffixes(Declarator &d);
    Extent array_suffix();
    void function_suffix(Part &part, bool first);
    void parameter_list(Part &part);
    void parameter(Part &part);
    bool misses_comma() const;
    void identifier_list(Part &part);
    const Type *derive(const Type *base, const Declarator &d);
    // The dimensions of the array that it declares, without those of its base type, whose nodes may
    // be gone.
    static std::vector<const Extent *> own_dimensions(const Declarator &d);
    const Type *adjusted(const Type *type);
    bool touched_declarator(const Declarator &d) const;
    TypeName *type_name();

    // statements (parse_stmt.cc)
    Stmt *static_assertion();
    Stmt *statement();
    Stmt *compound(const Declarator *function);
    void block_items(Stmt *stmt);
    Stmt *block_item();
    bool is_misspelled_for();
    Stmt *for_statement();
    Stmt *keyword_statement();
    void jump_statement(Stmt *stmt);
    void return_statement(Stmt *stmt);
    bool at_label() const;
    bool begins_line(uint32_t token) const;
    Expr *case_value();
    Stmt *label_statement();
    Stmt *expression_statement();
    Stmt *asm_statement();
    void asm_operands(Stmt *stmt);
    Expr *condition_in_parens();
    void check_on_one(uint32_t first);
    void add(Stmt *stmt, Node *child);
    template <class T> T *end(T *node);

    // expressions (parse_expr.cc)
    Expr *expression();
    Expr *assignment();
    Expr *constant();
    Expr *conditional();
    Expr *binary(int least);
    Expr *cast();
    Expr *unary();
    uint32_t external_of(uint32_t token) const;
    void declare_early(const Symbol *symbol, uint32_t use, bool is_static);
    void note_use_before(const Symbol *symbol, Symbol *old);
    void move_static(const Symbol *symbol, const Specifiers &s);
    void declared_in_block(const Symbol *function, Symbol *called);
    void take_from_block(Name *name);
    void return_pointers();
    bool stands_in_system(const Symbol *symbol) const;
    bool is_of_system(const Symbol *symbol) const;
    bool take_type_of_system(Symbol *symbol);
    Symbol *typedef_for(Symbol *symbol, uint32_t token) const;
    void take_errno(Symbol *symbol);
    bool replace_of_system(const InitDeclarator &d, const Specifiers &s, bool definition);
    void forget_of_system(const Symbol *function);
    Expr *sizeof_expression();
    Expr *postfix(Expr *e);
    Expr *primary();
    Expr *parenthesized();
    Expr *statement_expression(uint32_t first);
    Expr *compound_literal(uint32_t first, TypeName *type);
    void check_reversed_pair();
    void check_compound_pair();
    void check_parted_pair(bool label);
    bool is_string(uint32_t ahead = 0) const;
    Expr *string_literal();
    Expr *generic_selection();
    Expr *type_builtin();
    void arguments(Expr *call);
    Expr *start(ExprKind kind, uint32_t first);
    Expr *close(Expr *e);

    // Counts the nesting, so that no input exhausts the stack.
    class Depth;

    const Source &source_;
    std::string_view text_;
    Tokens &tokens_;
    Names &names_;
    Types &types_;
    Ast &ast_;
    Diagnostics &diag_;
    Scopes scopes_;
    Sema sema_;
    uint32_t pos_ = 0;
    unsigned depth_ = 0;
    // in the parameter list of a definition, where every parameter has a name
    bool named_parameters_ = false;
    bool colon_ends_ = false; // `:-` means C's `:` and `-` here
    // the function being defined
    struct {
        const Type *result = nullptr;
        const Name *name = nullptr;
        bool is_splitc_main = false; // of type int
    } function_;
    uint32_t nested_ = 0; // the name of the first function inside that of file scope, or 0
    Name *global_, *spread_;
    // symbols of the current external declaration that hide the name of a type
    std::vector<Symbol *> hiding_;
    std::vector<uint32_t> externals_;                 // the first tokens of external declarations
    std::map<const Name *, size_t> early_names_;      // where they are in ast_.early
    std::map<const Name *, uint32_t> used_in_blocks_; // what only blocks have declared
    // Functions that only blocks have declared, of which the first such declaration is kept.
    std::map<const Name *, Symbol *> of_blocks_;
    // What hides the declarations that say less than a system header's, in ast_.replaced.
    std::multimap<const Name *, size_t> hidden_;
    // What attributes have said since these were last reset.
    bool attribute_changes_type_ = false;
    bool attribute_changes_layout_ = false;
    bool attribute_overloads_ = false; // clang's attribute overloadable
};

class Parser::Depth {
public:
    explicit Depth(Parser &parser) : parser_(parser)
    {
        if (++parser_.depth_ > 2000) {
            parser_.depth_--;
            parser_.fail(parser_.peek().range(), "nested too deeply");
        }
    }
    ~Depth() { parser_.depth_--; }
    Depth(const Depth &) = delete;
    Depth &operator=(const Depth &) = delete;

private:
    Parser &parser_;
};

} // namespace splitcc
