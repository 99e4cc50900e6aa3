// SPDX-License-Identifier: BSD-3-Clause
//
// Statements.
#include "parse/parse.h"

#include "source/similar.h"

namespace splitcc {

void Parser::add(Stmt *stmt, Node *child)
{
    stmt->children.push_back(child);
    stmt->touched |= child->touched;
}

template <class T> T *Parser::end(T *node)
{
    node->last = pos_;
    return node;
}

// compound = "{" {declaration | statement} "}"; the caller has entered the scope, and, if this is
// the body of a function, reported that its '{' is missing
Stmt *Parser::compound(const Declarator *function)
{
    Stmt *stmt = ast_.stmt(StmtKind::Compound);
    stmt->first = pos_;
    stmt->function = function;
    bool colon = colon_ends_;
    colon_ends_ = false;
    if (!function || is(Tok::LBrace))
        expect(Tok::LBrace, "'{'");
    block_items(stmt);
    colon_ends_ = colon;
    if (!accept(Tok::RBrace)) {
        if (endless_string())
            throw SyntaxError();
        diag_.error(peek().range(), "expected '}' before the end of the file");
        diag_.note(tokens_[stmt->first].range(), "to match this '{'");
        if (nested_)
            diag_.note(tokens_[nested_].range(),
                       "this function begins inside another one; a '}' may be missing before it");
        throw SyntaxError();
    }
    return end(stmt);
}

void Parser::block_items(Stmt *stmt)
{
    while (!is(Tok::RBrace) && !is(Tok::End)) {
        uint32_t before = pos_;
        uint32_t scope = scopes_.depth();
        try {
            add(stmt, block_item());
        } catch (const SyntaxError &) {
            scopes_.leave_to(scope);
            colon_ends_ = false;
            if (diag_.too_many())
                throw;
            if (pos_ == before)
                pos_++;
            recover(before);
            take_as_declared(before);
        }
    }
}

// static-assertion = "_Static_assert" "(" constant ["," string] ")" ";"
Stmt *Parser::static_assertion()
{
    Stmt *stmt = ast_.stmt(StmtKind::Other);
    stmt->first = pos_++;
    expect(Tok::LParen, "'(' after the assertion");
    add(stmt, constant());
    if (accept(Tok::Comma))
        string_literal();
    expect(Tok::RParen, "')'");
    semicolon("';' after the assertion");
    return end(stmt);
}

Stmt *Parser::block_item()
{
    const bool extension = is(Tok::KwExtension);
    if (!at_label() &&
        (before_specifiers() || take_as_type(Among::Statements) || starts_declaration(extension) ||
         peek(extension).kind == Tok::KwStaticAssert)) {
        Stmt *stmt = ast_.stmt(StmtKind::Declaration);
        stmt->first = pos_;
        pos_ += extension;
        if (is(Tok::KwStaticAssert))
            add(stmt, static_assertion());
        else
            add(stmt, declaration());
        return end(stmt);
    }
    return statement();
}

// statement = labelled | compound | expression ";" | if | switch | while | do | for |
//             jump | asm
Stmt *Parser::statement()
{
    Depth depth(*this);
    switch (peek().kind) {
    case Tok::LBrace: {
        scopes_.enter();
        Stmt *stmt = compound(nullptr);
        scopes_.leave();
        return stmt;
    }
    case Tok::Semi: {
        Stmt *stmt = ast_.stmt(StmtKind::Null);
        stmt->first = pos_++;
        return end(stmt);
    }
    case Tok::KwFor:
        return for_statement();
    case Tok::KwIf:
    case Tok::KwSwitch:
    case Tok::KwWhile:
    case Tok::KwDo:
    case Tok::KwGoto:
    case Tok::KwBreak:
    case Tok::KwContinue:
    case Tok::KwReturn:
    case Tok::KwLabel:
        return keyword_statement();
    case Tok::KwAsm:
        return asm_statement();
    case Tok::KwElse:
        fail(peek().range(), "this 'else' belongs to no 'if'");
    case Tok::KwAttribute: {
        Stmt *stmt = ast_.stmt(StmtKind::Other);
        stmt->first = pos_;
        attributes();
        if (!accept(Tok::Semi))
            add(stmt, statement());
        return end(stmt);
    }
    default:
        if (is_misspelled_for())
            return for_statement();
        return at_label() ? label_statement() : expression_statement();
    }
}

// Reports a word that is meant as `for`: a semicolon is in the parentheses behind it.
bool Parser::is_misspelled_for()
{
    if (!is(Tok::Ident) || peek().name->ordinary || peek(1).kind != Tok::LParen ||
        !are_similar(peek().name->text, "for"))
        return false;
    int parens = 0;
    for (uint32_t at = pos_ + 1; tokens_[at].kind != Tok::LBrace && tokens_[at].kind != Tok::End;
         at++) {
        parens += (tokens_[at].kind == Tok::LParen) - (tokens_[at].kind == Tok::RParen);
        if (parens == 0)
            return false;
        if (tokens_[at].kind != Tok::Semi)
            continue;
        diag_
            .error(peek().range(), "'" + std::string(peek().name->text) +
                                       "' is not declared here; did you mean 'for'?")
            .replace(peek().range(), "for");
        return true;
    }
    return false;
}

Expr *Parser::condition_in_parens()
{
    expect(Tok::LParen, "'('");
    Expr *e = expression();
    sema_.check_condition(e);
    if (sema_.check_waits(e))
        e = sema_.value(e);
    sema_.note_pointer_result(e, nullptr);
    expect(Tok::RParen, "')'");
    return e;
}

// Reports `on_one() statement`, and goes on behind the parentheses.
void Parser::check_on_one(uint32_t first)
{
    if (!is(Tok::LParen) || peek(1).kind != Tok::RParen ||
        !tokens_.spelling(first, pos_).ends_with("(splitc_job.myproc) == 0)"))
        return;
    diag_.error({peek().offset, peek(1).end()},
                "'on_one' takes no parentheses; write 'on_one statement'");
    pos_ += 2;
}

Stmt *Parser::keyword_statement()
{
    Stmt *stmt = ast_.stmt(StmtKind::Other);
    stmt->first = pos_;
    Tok keyword = peek().kind;
    pos_++;
    switch (keyword) {
    case Tok::KwIf:
        add(stmt, condition_in_parens());
        check_on_one(stmt->first);
        add(stmt, statement());
        if (accept(Tok::KwElse))
            add(stmt, statement());
        break;
    case Tok::KwSwitch: {
        Expr *e = condition_in_parens();
        add(stmt, sema_.integer_value(e, "the value of a switch"));
        add(stmt, statement());
        break;
    }
    case Tok::KwWhile:
        add(stmt, condition_in_parens());
        add(stmt, statement());
        break;
    case Tok::KwDo:
        add(stmt, statement());
        expect(Tok::KwWhile, "'while' after the body of 'do'");
        add(stmt, condition_in_parens());
        expect(Tok::Semi, "';'");
        break;
    case Tok::KwReturn:
        return_statement(stmt);
        break;
    case Tok::KwLabel: // __label__ a, b;
        do
            expect(Tok::Ident, "the name of a label");
        while (accept(Tok::Comma));
        expect(Tok::Semi, "';'");
        break;
    default:
        pos_--;
        jump_statement(stmt);
    }
    return end(stmt);
}

// jump = "goto" (identifier | "*" expression) ";" | "break" ";" | "continue" ";"
void Parser::jump_statement(Stmt *stmt)
{
    bool is_goto = is(Tok::KwGoto);
    pos_++;
    if (is_goto) {
        if (accept(Tok::Star))
            add(stmt, sema_.value(expression()));
        else
            expect(Tok::Ident, "the name of a label");
    }
    expect(Tok::Semi, "';'");
}

// return = "return" [expression] ";"
void Parser::return_statement(Stmt *stmt)
{
    if (!is(Tok::Semi)) {
        Expr *e = expression();
        if (function_.result && function_.result->kind != TypeKind::Void)
            e = sema_.convert(e, function_.result, "return");
        else
            e = sema_.value(e);
        add(stmt, e);
    } else if (function_.is_splitc_main) { // as falling off its end does
        ast_.replaced.push_back({pos_, pos_, " 0"});
    }
    semicolon("';' after the return value");
}

Stmt *Parser::for_statement()
{
    Stmt *stmt = ast_.stmt(StmtKind::For);
    stmt->first = pos_++;
    scopes_.enter();
    expect(Tok::LParen, "'(' after 'for'");
    if (starts_declaration()) {
        add(stmt, declaration());
    } else if (!accept(Tok::Semi)) {
        add(stmt, sema_.discard(expression()));
        expect(Tok::Semi, "';' in 'for'");
    }
    if (!is(Tok::Semi)) {
        Expr *condition = expression();
        sema_.check_condition(condition);
        add(stmt, sema_.value(condition));
    }
    expect(Tok::Semi, "';' in 'for'");
    if (!is(Tok::RParen))
        add(stmt, sema_.discard(expression()));
    expect(Tok::RParen, "')'");
    add(stmt, statement());
    scopes_.leave();
    return end(stmt);
}

// Whether nothing stands in front of the token on its line, not even a space.
bool Parser::begins_line(uint32_t token) const
{
    const uint32_t at = tokens_[token].offset;
    return at == 0 || text_[at - 1] == '\n';
}

// Returns whether a label stands here.  `x := g` is none.  `x :- 1` is none either, if x is an
// object and a space is before the colon.
bool Parser::at_label() const
{
    if (!is(Tok::Ident))
        return is(Tok::KwCase) || is(Tok::KwDefault);
    if (peek(1).kind != Tok::Colon || (peek(2).kind == Tok::Assign && touching(2)))
        return false;
    const Symbol *symbol = peek().name->ordinary;
    bool store = peek(2).kind == Tok::Minus && touching(2) && !touching(1) && symbol &&
                 symbol->kind == SymbolKind::Object;
    return !store;
}

Expr *Parser::case_value()
{
    Expr *e = constant();
    if (!e->value && mentions_job(e))
        diag_.error(sema_.range(e), "the value of a case has to be constant; PROCS and MYPROC are "
                                    "known only when the program runs");
    return e;
}

// labelled = {(identifier | "case" constant ["..." constant] | "default") ":"} statement
Stmt *Parser::label_statement()
{
    Stmt *stmt = ast_.stmt(StmtKind::Other);
    stmt->first = pos_;
    while (at_label()) {
        if (ast_.notes_labels)
            ast_.labels.push_back(pos_);
        if (tokens_[pos_++].kind == Tok::KwCase) {
            add(stmt, case_value());
            if (accept(Tok::Ellipsis))
                add(stmt, case_value());
        }
        check_parted_pair(true);
        expect(Tok::Colon, "':'");
        attributes();
    }
    // A label may stand at the end of a block, and before a declaration in GNU C.
    if (!is(Tok::RBrace))
        add(stmt, block_item());
    return end(stmt);
}

Stmt *Parser::expression_statement()
{
    if (before_a_word())
        unknown_word();
    Stmt *stmt = ast_.stmt(StmtKind::Expression);
    stmt->first = pos_;
    Expr *e = sema_.discard(expression());
    add(stmt, e);
    sema_.check_called(e);
    if (e->kind == ExprKind::Call && !is(Tok::Semi) && sema_.report_macro(e))
        throw SyntaxError();
    if (!nested_ && e->kind == ExprKind::Call && !is(Tok::Semi) && begins_line(stmt->first))
        nested_ = stmt->first; // in old style a function begins without a type
    semicolon("';' after the expression");
    return end(stmt);
}

// asm = "asm" qualifiers "(" string [":" operands [":" operands [":" clobbers [":" labels]]]] ")"
Stmt *Parser::asm_statement()
{
    Stmt *stmt = ast_.stmt(StmtKind::Asm);
    stmt->first = pos_++;
    while (accept(Tok::KwVolatile) || accept(Tok::KwInline) || accept(Tok::KwGoto) ||
           accept(Tok::KwConst)) {
    }
    expect(Tok::LParen, "'(' after 'asm'");
    while (!is(Tok::RParen) && !is(Tok::End)) {
        if (is(Tok::LParen))
            asm_operands(stmt);
        else if (is(Tok::LBracket))
            skip_balanced();
        else
            pos_++;
    }
    expect(Tok::RParen, "')' after the asm");
    semicolon("';' after the asm");
    return end(stmt);
}

// Parses the parenthesised expression of one operand.
void Parser::asm_operands(Stmt *stmt)
{
    pos_++;
    Expr *e = expression();
    add(stmt, e->lvalue && !e->global ? e : sema_.value(e));
    expect(Tok::RParen, "')' after the operand");
}

} // namespace splitcc
