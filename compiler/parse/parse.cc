// SPDX-License-Identifier: BSD-3-Clause
//
// What all of the parser uses: tokens, errors and recovery, and the translation unit.
#include "parse/parse.h"

#include <algorithm>

namespace splitcc {

Parser::Parser(const Source &source, Tokens &tokens, Names &names, Types &types, Ast &ast,
               Diagnostics &diag)
    : source_(source), text_(source.text()), tokens_(tokens), names_(names), types_(types),
      ast_(ast), diag_(diag), sema_(tokens, ast, types, names, diag),
      global_(names.intern("global")), spread_(names.intern("spread"))
{
}

bool Parser::accept(Tok kind)
{
    if (!is(kind))
        return false;
    pos_++;
    return true;
}

bool Parser::touching(uint32_t ahead) const
{
    return pos_ + ahead > 0 && peek(ahead).offset == tokens_[pos_ + ahead - 1].end();
}

bool Parser::is_pair(Tok second) const
{
    return is(Tok::Colon) && peek(1).kind == second && touching(1);
}

void Parser::fail(Range where, std::string_view message)
{
    diag_.error(where, message);
    throw SyntaxError();
}

Report Parser::missing(std::string_view wanted)
{
    const Token token = peek();
    std::string message = "expected " + std::string(wanted) + " before ";
    if (token.kind == Tok::End)
        return diag_.error(range_before(), message + "the end of the file");
    message += "'" + std::string(text_.substr(token.offset, std::min(token.length, 40u))) + "'";
    // What is expected after something is reported there, and not at the next word.
    bool after = wanted.find("after") != std::string_view::npos && pos_ > 0;
    uint32_t end = after ? tokens_[pos_ - 1].end() : 0;
    return diag_.error(after ? Range{end - 1, end} : token.range(), message);
}

void Parser::unexpected(std::string_view wanted)
{
    // After a string literal without an end, nothing else is reported at the end of the file.
    if (!is(Tok::End) || !endless_string())
        missing(wanted);
    throw SyntaxError();
}

// Parses the end of a statement or declaration.  If the semicolon is missing at the end of a line
// or block, the error is reported and parsing goes on as if it were there.
void Parser::semicolon(const char *what)
{
    if (accept(Tok::Semi))
        return;
    uint32_t end = tokens_[pos_ - 1].end();
    bool line_ends = text_.substr(end, peek().offset - end).find('\n') != std::string_view::npos;
    check_compound_pair();
    check_parted_pair(false);
    if (is(Tok::End) || (!line_ends && !is(Tok::RBrace)))
        unexpected(what);
    missing(what).insert_after(range_before(), ";");
}

// Reports `=:` and `-:`.
void Parser::check_reversed_pair()
{
    if (!is(Tok::Colon) || pos_ == 0)
        return;
    const Token before = tokens_[pos_ - 1];
    if ((before.kind != Tok::Assign && before.kind != Tok::Minus) || before.end() != peek().offset)
        return;
    const bool get = before.kind == Tok::Assign;
    fail({before.offset, peek().end()},
         get ? "a split-phase assignment is written ':='" : "a one-way store is written ':-'");
}

// Reports `: =` and, behind an expression, `: -`.  Behind a label, which may be followed by a
// minus, only the first one is wrong.
void Parser::check_parted_pair(bool label)
{
    const Tok second = peek(1).kind;
    if (!is(Tok::Colon) || touching(1) ||
        (second != Tok::Assign && (label || second != Tok::Minus)))
        return;
    fail({peek().offset, peek(1).end()}, second == Tok::Assign ? "':=' is written without a space"
                                                               : "':-' is written without a space");
}

// Reports `:-=` and its like.  This is its colon, or, if a label was read, what follows that.
void Parser::check_compound_pair()
{
    const uint32_t at = is(Tok::Colon) || pos_ == 0 ? pos_ : pos_ - 1;
    const Token first = tokens_[at], second = tokens_[at + 1];
    if (first.kind != Tok::Colon || first.end() != second.offset || second.kind < Tok::MulAssign ||
        second.kind > Tok::OrAssign)
        return;
    const Range both = {first.offset, second.end()};
    fail(both, "there is no '" + std::string(text_.substr(both.begin, both.end - both.begin)) +
                   "'; ':-' stores a value, and '" + std::string(tokens_.spelling(at + 1)) +
                   "' waits for the result");
}

// Whether this is a string literal, or a word that was one before version 3.4 of gcc.
bool Parser::is_string(uint32_t ahead) const
{
    const Token &token = peek(ahead);
    return token.kind == Tok::String ||
           (token.kind == Tok::Ident && function_.name &&
            (token.name->text == "__FUNCTION__" || token.name->text == "__PRETTY_FUNCTION__"));
}

// string = literal {literal}
// Macros between them (PRIu64 and the like) have been expanded.
Expr *Parser::string_literal()
{
    Expr *e = start(ExprKind::String, pos_);
    for (; is_string(); pos_++)
        if (is(Tok::Ident))
            ast_.replaced.push_back(
                {pos_, pos_ + 1, '"' + std::string(function_.name->text) + '"'});
    return sema_.string(close(e));
}

// Returns whether an undeclared name stands where only a type or a keyword can.
bool Parser::before_a_word() const
{
    if (!is(Tok::Ident) || peek().name->ordinary)
        return false;
    Tok next = peek(1).kind;
    return next == Tok::Ident || next == Tok::Number || next == Tok::String || next == Tok::Char;
}

// Returns whether an undeclared name stands where only a keyword can: `typdef struct s s;`.  At the
// end of a line only the semicolon may be missing.
bool Parser::before_specifiers()
{
    if (!is(Tok::Ident) || peek().name->ordinary || is_space_word() || peek(1).kind == Tok::Ident ||
        !starts_declaration(1))
        return false;
    const uint32_t end = peek().end();
    return text_.substr(end, peek(1).offset - end).find('\n') == std::string_view::npos;
}

// Reports an undeclared name that, as what follows it shows, is meant as a type, and takes it as
// one from here on.
bool Parser::take_as_type(Among among)
{
    Name *name = peek().name;
    if (!is(Tok::Ident) || name->ordinary || is_space_word())
        return false;
    const bool statement = among == Among::Statements; // it may be an expression
    const Tok next = peek(1).kind, second = next == Tok::End ? next : peek(2).kind;
    const bool before_name =
        next == Tok::Ident &&
        (second == Tok::Semi || second == Tok::Comma || second == Tok::Assign ||
         second == Tok::LBracket ||
         (!statement && (second == Tok::LParen || second == Tok::RParen || second == Tok::Colon)));
    const bool space = second == Tok::Ident && (peek(2).name == global_ || peek(2).name == spread_);
    const bool fresh = second == Tok::Ident && !peek(2).name->ordinary &&
                       (peek(3).kind == Tok::Semi || peek(3).kind == Tok::Assign);
    const bool before_star =
        next == Tok::Star && (!statement || fresh || (space && peek(3).kind == Tok::Ident));
    if (!before_name && !before_star)
        return false;
    if (const Symbol *tag = name->tag) {
        const std::string &type = tag->record ? tag->record->spelled : tag->enumeration->spelled;
        diag_
            .error(peek().range(),
                   "'" + std::string(name->text) + "' is no type by itself; write '" + type + "'")
            .replace(peek().range(), type);
    } else {
        sema_.report_undeclared(name, pos_);
    }
    Symbol *symbol = ast_.symbol();
    symbol->kind = SymbolKind::Typedef;
    symbol->file_scope = true;
    symbol->name = name;
    symbol->type = types_.unknown();
    symbol->token = pos_;
    name->ordinary = symbol;
    return true;
}

void Parser::unknown_word()
{
    sema_.report_undeclared(peek().name, pos_);
    throw SyntaxError();
}

// Returns whether the file ends inside a string literal.
bool Parser::endless_string() const
{
    if (tokens_.size() < 2 || tokens_[tokens_.size() - 2].kind != Tok::String)
        return false;
    const Token last = tokens_[tokens_.size() - 2];
    return last.length < 2 || text_[last.end() - 1] != '"';
}

Range Parser::range_before() const
{
    return tokens_[pos_ > 0 ? pos_ - 1 : 0].range();
}

void Parser::expect(Tok kind, const char *what)
{
    if (!accept(kind))
        unexpected(what);
}

// Skips, after a syntax error, to the end of the statement that began at `from`, or to the brace
// that ends its block.  Semicolons in the head of a `for` do not end it.
void Parser::recover(uint32_t from)
{
    bool head = tokens_[from].kind == Tok::KwFor;
    int parens = 0, braces = 0;
    for (uint32_t i = from; head && i < pos_; i++)
        parens += (tokens_[i].kind == Tok::LParen) - (tokens_[i].kind == Tok::RParen);
    for (; !is(Tok::End); pos_++) {
        parens += is(Tok::LParen) - is(Tok::RParen);
        head &= parens > 0 && !is(Tok::LBrace);
        if (is(Tok::LBrace))
            braces++;
        if (is(Tok::RBrace) && braces-- == 0)
            return;
        if ((is(Tok::Semi) || is(Tok::RBrace)) && braces == 0 && !head) {
            pos_++;
            return;
        }
    }
}

// Declares the names in a declaration or statement that was given up, so that later uses of them
// are not reported.
void Parser::take_as_declared(uint32_t from)
{
    for (uint32_t i = from; i < pos_ && tokens_[i].kind != Tok::LBrace; i++) {
        Name *name = tokens_[i].name;
        if (tokens_[i].kind != Tok::Ident || name->ordinary || name == global_ || name == spread_)
            continue;
        Symbol *symbol = ast_.symbol();
        symbol->kind = SymbolKind::Builtin;
        symbol->name = name;
        symbol->token = i;
        symbol->type = types_.unknown();
        scopes_.declare(symbol);
    }
}

// Skips a bracketed group.
void Parser::skip_balanced()
{
    const Token open = peek();
    int depth = 0;
    do {
        if (is(Tok::End)) {
            diag_.error(open.range(), "this bracket is never closed");
            throw SyntaxError();
        }
        if (is(Tok::LParen) || is(Tok::LBracket) || is(Tok::LBrace))
            depth++;
        if (is(Tok::RParen) || is(Tok::RBracket) || is(Tok::RBrace))
            depth--;
        pos_++;
    } while (depth > 0);
}

void Parser::builtin_typedefs()
{
    auto add = [&](std::string_view name, const Type *type) {
        Symbol *symbol = ast_.symbol();
        symbol->kind = SymbolKind::Typedef;
        symbol->name = names_.intern(name);
        symbol->type = type;
        symbol->file_scope = true;
        scopes_.declare(symbol);
    };
    for (const char *name :
         {"__builtin_va_list", "__builtin_ms_va_list", "__builtin_sysv_va_list", "__bf16"})
        add(name, types_.opaque(name));
    add("__int128_t", types_.basic(TypeKind::Int128));
    add("__uint128_t", types_.basic(TypeKind::UInt128));
}

// translation-unit = {external-declaration}
void Parser::translation_unit()
{
    builtin_typedefs();
    while (!is(Tok::End) && !diag_.too_many()) {
        uint32_t before = pos_;
        try {
            external_declaration();
        } catch (const SyntaxError &) {
            colon_ends_ = false;
            named_parameters_ = false;
            scopes_.leave_to(0);
            if (pos_ == before)
                pos_++;
            recover(before);
            take_as_declared(before);
            if (is(Tok::RBrace))
                pos_++;
        }
    }
    return_pointers();
    sema_.end_of_unit();
}

// external-declaration = function-definition | declaration | asm ";" | ";"
void Parser::external_declaration()
{
    while (accept(Tok::KwExtension) || accept(Tok::Semi)) {
    }
    if (is(Tok::End))
        return;
    if (is(Tok::RBrace)) {
        diag_.error(peek().range(), "this '}' closes nothing");
        pos_++;
        return;
    }
    if (is(Tok::LBrace))
        return block_of_nothing();
    if (is(Tok::KwAsm)) {
        pos_++;
        skip_balanced();
        accept(Tok::Semi);
        return;
    }
    const Ast::Mark before = ast_.mark();
    if (is(Tok::KwStaticAssert)) {
        if (const Stmt *assertion = static_assertion(); assertion->touched)
            ast_.unit.push_back(assertion);
        else
            ast_.release(before);
        return;
    }
    hiding_.clear();
    externals_.push_back(pos_);
    Declaration *d = declaration();
    if (d->touched)
        ast_.renamed.insert(ast_.renamed.end(), hiding_.begin(), hiding_.end());
    if (note_library(d) || d->touched || d->is_definition)
        ast_.unit.push_back(d);
    else
        ast_.release(before);
}

// Reports a block at file scope, and skips it.  It may be the body of a function whose declarator
// has a ';' behind it.
void Parser::block_of_nothing()
{
    const Report report = missing("a declaration");
    if (pos_ > 1 && tokens_[pos_ - 1].kind == Tok::Semi && tokens_[pos_ - 2].kind == Tok::RParen &&
        source_.position(range_before().begin).file == source_.position(peek().offset).file)
        report.note(range_before(), "this ';' has ended the declaration before it; the body of a "
                                    "function follows its parameters without one");
    skip_balanced();
}

// Returns whether emitted code has no other name than this for a type.
static bool names_only_by_typedef(const Symbol *symbol)
{
    if (symbol->kind != SymbolKind::Typedef)
        return false;
    const Type *type = symbol->type;
    return type->kind == TypeKind::Opaque || !type->captured.empty() ||
           (type->kind == TypeKind::Record && !type->record->tag) ||
           (type->kind == TypeKind::Enum && !type->enumeration->tag);
}

// Remembers a symbol if it hides the name of a type that emitted code may have to use in its scope.
void Parser::note_hidden(Symbol *symbol)
{
    const Symbol *outer = symbol->shadowed;
    if (!outer || outer->depth >= symbol->depth)
        return;
    bool linked = symbol->storage == Storage::Extern || symbol->kind == SymbolKind::Function;
    if (symbol->kind != SymbolKind::Tag && (linked || !names_only_by_typedef(outer)))
        return;
    symbol->hides_type = true;
    hiding_.push_back(symbol);
}

} // namespace splitcc
