// SPDX-License-Identifier: BSD-3-Clause
//
// Declarations and function definitions.
#include "parse/parse.h"
#include "sema/index.h"

#include <algorithm>

#include "sema/split_phase.h"
#include "source/similar.h"

namespace splitcc {

// declaration = specifiers [init-declarator {"," init-declarator}] ";"
// and, at file scope, function-definition = specifiers declarator {declaration} compound
Declaration *Parser::declaration()
{
    Depth depth(*this);
    Declaration *d = ast_.declaration();
    d->first = pos_;
    d->file_scope = scopes_.at_file_scope();
    attribute_overloads_ = false;
    const Name *misspelled = before_specifiers() ? peek().name : nullptr;
    if (misspelled)
        sema_.report_undeclared(misspelled, pos_++);
    take_as_type(Among::Declarations);
    specifiers(d->specifiers, true);
    if (misspelled && are_similar(misspelled->text, "typedef"))
        d->specifiers.storage = Storage::Typedef;
    if (d->specifiers.first == d->specifiers.last && before_a_word() && !is_space_word())
        unknown_word();
    if (!is(Tok::Semi) && !d->specifiers.ended)
        init_declarators(d);
    if (!d->is_definition && !d->specifiers.ended)
        semicolon(d->declarators.empty() ? "a name or ';'" : "';' after the declaration");
    d->last = pos_;
    d->touched |= d->specifiers.touched;
    return d;
}

void Parser::init_declarators(Declaration *d)
{
    do {
        init_declarator(d);
        if (d->is_definition)
            return;
    } while (accept(Tok::Comma));
}

void Parser::init_declarator(Declaration *declaration)
{
    if (!declaration->declarators.empty())
        attributes();
    attribute_changes_type_ = false;
    InitDeclarator d;
    d.declarator.first = pos_;
    declarator(d.declarator, Abstract::No, false);
    d.type = derive(declaration->specifiers.type, d.declarator);
    after_declarator(d);
    if (declaration->file_scope)
        check_size(d);

    bool is_function = d.type->kind == TypeKind::Function;
    bool definition =
        is_function && declaration->declarators.empty() && at_definition(d.declarator);
    if (definition && !scopes_.at_file_scope())
        check_nested(d, declaration->specifiers);
    replace_library(d, declaration->specifiers, definition);
    Symbol *of_system = d.declarator.name->ordinary;
    d.symbol = replace_of_system(d, declaration->specifiers, definition)
                   ? declare(d, declaration->specifiers, DeclarationRole::Object)
                   : of_system;
    if (is_function && attribute_overloads_) // one name for many functions
        d.symbol->type = types_.function(types_.unknown(), {}, false, true);
    declaration->touched |= touched_declarator(d.declarator);
    if (definition) {
        declaration->declarators.push_back(std::move(d));
        return function_body(declaration);
    }
    if (accept_initializer(d)) {
        const Type *type = d.type;
        if (type->kind == TypeKind::SpreadArray) {
            diag_.error(range_before(),
                        "a spread array cannot be initialized; assign its elements");
            type = types_.unknown();
        }
        const bool is_static =
            declaration->file_scope || declaration->specifiers.storage == Storage::Static;
        Subobjects objects(type, types_.unknown(), is_static ? d.symbol : nullptr);
        d.init = initializer(objects);
        declaration->touched |= d.init->touched;
        if (type->kind == TypeKind::Unknown && d.init->node == NodeKind::Expr) // __auto_type
            d.symbol->type = sema_.value_type(static_cast<Expr *>(d.init));
    }
    declaration->declarators.push_back(std::move(d));
}

// Returns whether the function's declarator is that of a definition: its body follows, or, behind
// names without types, the declarations of its parameters.
bool Parser::at_definition(const Declarator &d)
{
    if (d.parts.empty()) // a typedef says that it is a function
        return false;
    const Part &function = d.parts.front();
    const bool names = !function.prototype && !function.param_symbols.empty();
    if (names && scopes_.at_file_scope())
        take_as_type(Among::Declarations);
    return is(Tok::LBrace) || (names && starts_declaration()) || declares_again() ||
           without_brace();
}

// Returns whether the body of a function begins here, and its '{' was forgotten: the '}' is there.
bool Parser::without_brace() const
{
    if (!scopes_.at_file_scope() || is(Tok::Semi) || is(Tok::Comma) || is(Tok::Assign))
        return false;
    int depth = 0;
    for (uint32_t at = pos_; depth >= 0 && tokens_[at].kind != Tok::End; at++)
        depth += (tokens_[at].kind == Tok::LBrace) - (tokens_[at].kind == Tok::RBrace);
    return depth < 0;
}

// The asm label and attributes that follow a declarator.
void Parser::after_declarator(InitDeclarator &d)
{
    d.after_first = pos_;
    while (is(Tok::KwAsm) || is(Tok::KwAttribute)) {
        if (is(Tok::KwAsm)) {
            pos_++;
            skip_balanced();
        } else {
            attributes();
        }
    }
    d.after_last = pos_;
    if (attribute_changes_type_) {
        std::string spelled(d.declarator.name ? d.declarator.name->text : "");
        d.type = types_.opaque("__typeof__(" + spelled + ")");
        attribute_changes_type_ = false;
    }
}

// Recognises the functions of split-c.h by their asm labels, which begin with splitc_.
bool Parser::note_library(Declaration *declaration)
{
    bool any = false;
    for (const InitDeclarator &item : declaration->declarators) {
        uint32_t at = item.after_first;
        if (at < item.after_last && tokens_[at].kind == Tok::KwAsm &&
            tokens_.spelling(at + 2).starts_with("\"splitc_")) {
            item.symbol->library = declaration;
            any = true;
        }
    }
    return any;
}

// Returns whether PROCS or MYPROC is in the expression, or what else becomes known when the program
// runs.
bool Parser::mentions_job(const Expr *e) const
{
    for (uint32_t at = e->first; at < e->last; at++)
        if (tokens_[at].kind == Tok::Ident && tokens_[at].name->text == "splitc_job")
            return true;
    return false;
}

// Reports an array of file scope with as many elements as there are processors: their number is not
// known before the program runs, and such an array is likely to be a spread one without its `::`.
void Parser::check_size(const InitDeclarator &d)
{
    for (const Extent *extent : own_dimensions(d.declarator)) {
        const Expr *size = extent->size;
        if (!size || extent->value)
            continue;
        sema_.check_constant(size, "the size of an array of file scope has to be constant");
        if (mentions_job(size))
            fail({tokens_[size->first].offset, tokens_[size->last - 1].end()},
                 "the size of an array of file scope has to be constant; if the array is spread "
                 "over the processors, it has '::', as in 'int " +
                     std::string(d.declarator.name->text) + "[PROCS]::'");
    }
}

// Drops the library's declaration if the program declares the name for something of its own.
void Parser::replace_library(const InitDeclarator &d, const Specifiers &s, bool definition)
{
    const Symbol *old = d.declarator.name->ordinary;
    bool linked = scopes_.at_file_scope() || s.storage == Storage::Extern ||
                  (d.type->kind == TypeKind::Function && !definition);
    if (!old || !old->library || !linked)
        return;
    bool own = definition || s.storage == Storage::Static || s.storage == Storage::Typedef ||
               !same_type(old->type, d.type);
    if (!own)
        return;
    old->library->dropped = old->library->touched = true;
    if (scopes_.at_file_scope())
        d.declarator.name->ordinary = nullptr;
}

// A function inside a function (of GNU C) is either meant, or a '}' is missing before it.
void Parser::check_nested(const InitDeclarator &d, const Specifiers &s)
{
    if (s.storage == Storage::Static || s.storage == Storage::Extern)
        fail(tokens_[d.declarator.name_token].range(),
             "a function inside a function cannot be 'static' or 'extern'; "
             "is a '}' missing before it?");
    if (!nested_)
        nested_ = d.declarator.name_token;
}

void Parser::function_body(Declaration *declaration)
{
    const bool nested = !scopes_.at_file_scope();
    const auto outer = function_;
    InitDeclarator &d = declaration->declarators[0];
    if (!nested)
        nested_ = 0;
    Part &function = d.declarator.parts.front();
    const bool again = declares_again();
    scopes_.enter();
    for (Symbol *param : function.param_symbols)
        if (param->name)
            scopes_.declare(param);
    if (!function.prototype && !function.param_symbols.empty())
        old_style_parameters(declaration);
    else if (again)
        skip_declarations();
    for (Symbol *param : function.param_symbols)
        if (!param->type)
            param->type = types_.basic(TypeKind::Int);
    // This is no prototype, but the types of the parameters are known now; unless one was before
    // it.
    if (!function.prototype) {
        std::vector<const Type *> params;
        for (const Symbol *param : function.param_symbols)
            params.push_back(param->type);
        const Type *type = types_.function(d.type->base, std::move(params), false, false);
        if (d.symbol->type->prototype)
            sema_.check_old_style(d, type);
        else
            d.symbol->type = type;
    }
    const bool is_splitc_main = !nested && d.symbol->name && d.symbol->name->text == "splitc_main";
    if (!nested && d.symbol->name && d.symbol->name->text == "main")
        ast_.main = d.declarator.name_token;
    function_ = {d.type->base, d.symbol->name,
                 is_splitc_main && d.type->base->kind == TypeKind::Int && !ast_.translated};
    const Ast::Mark before = ast_.mark();
    declaration->is_definition = true;
    if (!is(Tok::LBrace))
        missing("'{' after the parameters").insert_after(range_before(), " {");
    declaration->body = compound(&d.declarator);
    declaration->body->result = function_.result;
    function_ = outer;
    // lower/ adds splitc_entry to it; so its body counts as touched.
    if (is_splitc_main) {
        declaration->body->touched = true;
        sema_.check_splitc_main(d);
    }
    for (const Symbol *param : function.param_symbols)
        declaration->body->touched |= mentions_far(param->type);
    declaration->touched |= declaration->body->touched;
    check_split_phase(declaration, tokens_, diag_);
    scopes_.leave();
    if (!declaration->body->touched && !nested) {
        declaration->body = nullptr;
        ast_.release_scope(before);
    }
}

// Returns whether parameters are declared once more behind a parameter list with types, in front of
// the body.  If another function follows, a semicolon is missing.
bool Parser::declares_again() const
{
    return scopes_.at_file_scope() && starts_declaration() && body_behind_declarations(pos_);
}

// Whether declarations, which begin at that token, are those between a parameter list and a body.
bool Parser::body_behind_declarations(uint32_t at) const
{
    while (tokens_[at].kind != Tok::LBrace && tokens_[at].kind != Tok::LParen &&
           tokens_[at].kind != Tok::End)
        at++;
    return tokens_[at].kind == Tok::LBrace && tokens_[at - 1].kind == Tok::Semi;
}

// Reports what stands between a parameter list with types and the body.
void Parser::skip_declarations()
{
    diag_.error(peek().range(), "the parameters have their types in the parentheses; nothing is "
                                "declared between them and the '{'");
    while (!is(Tok::LBrace))
        pos_++;
}

// The declarations between the declarator and the body of a K&R definition.  After an error the
// body is read all the same; what was to be declared has a type that is not known.
void Parser::old_style_parameters(Declaration *declaration)
{
    Part &function = declaration->declarators[0].declarator.parts.front();
    bool failed = false;
    named_parameters_ = true;
    while (!is(Tok::LBrace)) {
        const uint32_t scope = scopes_.depth();
        try {
            old_style_parameter(declaration, function);
        } catch (const SyntaxError &) {
            failed = true;
            scopes_.leave_to(scope);
            colon_ends_ = false;
            while (!is(Tok::Semi) && !is(Tok::LBrace) && !is(Tok::RBrace) && !is(Tok::End))
                pos_++;
            if (diag_.too_many() || is(Tok::RBrace) || is(Tok::End))
                throw;
            accept(Tok::Semi);
        }
    }
    named_parameters_ = false;
    for (Symbol *param : function.param_symbols)
        if (failed && !param->type)
            param->type = types_.unknown();
    old_style_arguments(*declaration, function);
}

// What no call is inlined of or adapted to.
constexpr std::string_view kOutOfLine = "__attribute__((__noipa__)) ";

// With <varargs.h> a function has more parameters than what calls it passes, so that no call of it
// may be inlined or change it.
void Parser::old_style_arguments(const Declaration &declaration, const Part &function)
{
    for (const Symbol *param : function.param_symbols) {
        if (param->name->text != "splitc_va_alist")
            continue;
        const uint32_t first = declaration.first; // splitcc may have made the text
        if (tokens_[first].kind == Tok::KwAttribute && tokens_[first + 3].name &&
            tokens_[first + 3].name->text == "__noipa__")
            continue;
        if (param == function.param_symbols.front())
            ast_.replaced.emplace_back(Replacement{declaration.first, declaration.first, {}}).text =
                kOutOfLine;
        else
            diag_.error(tokens_[param->token].range(),
                        "'va_alist' stands alone; behind other parameters use '...' of <stdarg.h>");
    }
}

void Parser::old_style_parameter(Declaration *declaration, const Part &function)
{
    Declaration *d = ast_.declaration();
    d->first = pos_;
    d->role = DeclarationRole::Parameter;
    take_as_type(Among::Declarations);
    specifiers(d->specifiers, true);
    do {
        InitDeclarator item;
        item.declarator.first = pos_;
        declarator(item.declarator, Abstract::No, true);
        item.type = adjusted(derive(d->specifiers.type, item.declarator));
        after_declarator(item);
        d->touched |= touched_declarator(item.declarator);
        bool found = false;
        for (Symbol *param : function.param_symbols)
            if (param->name == item.declarator.name) {
                param->type = item.type;
                param->storage = d->specifiers.storage;
                param->parameter = true;
                if (item.type->kind == TypeKind::SpreadArray)
                    sema_.check_spread_array(item, *param);
                item.symbol = param;
                found = true;
            }
        if (!found) {
            diag_.error(tokens_[item.declarator.name_token].range(),
                        "'" + std::string(item.declarator.name->text) +
                            "' is not in the parameter list");
            if (is(Tok::LBrace)) // another function, and a body is missing before it
                throw SyntaxError();
        }
        d->declarators.push_back(std::move(item));
    } while (accept(Tok::Comma));
    semicolon("';' after the parameter's declaration");
    d->last = pos_;
    d->touched |= d->specifiers.touched;
    declaration->touched |= d->touched;
    declaration->old_style.push_back(d);
}

Symbol *Parser::declare(InitDeclarator &d, const Specifiers &s, DeclarationRole role)
{
    Symbol *symbol = ast_.symbol();
    symbol->kind = s.storage == Storage::Typedef        ? SymbolKind::Typedef
                   : d.type->kind == TypeKind::Function ? SymbolKind::Function
                                                        : SymbolKind::Object;
    symbol->storage = s.storage;
    symbol->file_scope = scopes_.at_file_scope();
    symbol->parameter = role == DeclarationRole::Parameter;
    symbol->name = d.declarator.name;
    symbol->type = d.type;
    symbol->token = d.declarator.name_token;
    if (!symbol->name)
        return symbol;
    if (d.type->kind == TypeKind::SpreadArray && symbol->kind == SymbolKind::Object &&
        !sema_.check_spread_array(d, *symbol))
        throw SyntaxError();
    const bool own_type = symbol->kind == SymbolKind::Typedef && take_type_of_system(symbol);
    if (symbol->kind == SymbolKind::Typedef) {
        const std::string name =
            symbol->emitted.empty() ? std::string(symbol->name->text) : symbol->emitted;
        if (d.type->kind == TypeKind::SpreadArray)
            fail(tokens_[symbol->token].range(),
                 "a spread array cannot be a typedef; declare the array itself");
        // Emitted code uses the typedef as the name of a type that has no tag, or a run-time size.
        if (d.type->kind == TypeKind::Record && d.type->record->spelled.empty())
            d.type->record->spelled = name;
        if (d.type->kind == TypeKind::Enum && d.type->enumeration->spelled.empty())
            d.type->enumeration->spelled = name;
        if (variably_sized(d.type))
            d.type->captured = name;
        if (d.type->kind == TypeKind::Opaque && d.type->spelled.starts_with("__typeof__"))
            symbol->type = d.type = types_.opaque(name);
    }
    if (ast_.index)
        ast_.index->name(symbol->token, symbol);
    Symbol *old = symbol->name->ordinary;
    if (symbol->kind == SymbolKind::Function || symbol->kind == SymbolKind::Object)
        note_use_before(symbol, old);
    if (symbol->kind == SymbolKind::Function && !symbol->file_scope && s.storage == Storage::Static)
        move_static(symbol, s);
    if (old && !own_type && scopes_.is_local(old) && !sema_.check_redeclaration(old, symbol))
        return symbol;
    // A redeclaration with less information keeps the type that is known, and that of a function
    // in a block means the one outside.
    bool same = old && (scopes_.is_local(old) || symbol->kind == SymbolKind::Function);
    symbol->redeclares = same;
    if (same && old->kind == symbol->kind && old->type) {
        bool less = (symbol->type->kind == TypeKind::Array && !symbol->type->extent.size) ||
                    (symbol->type->kind == TypeKind::Function && !symbol->type->prototype);
        if (less && same_type(old->type, symbol->type))
            symbol->type = old->type;
    }
    scopes_.declare(symbol);
    note_hidden(symbol);
    take_errno(symbol);
    if (symbol->file_scope && symbol->kind == SymbolKind::Object && !stands_in_system(symbol))
        ast_.objects.push_back(symbol->name);
    if (symbol->hides_type)
        symbol->uses.push_back(symbol->token);
    return symbol;
}

} // namespace splitcc
