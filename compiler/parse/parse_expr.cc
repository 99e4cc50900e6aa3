// SPDX-License-Identifier: BSD-3-Clause
//
// Expressions.
#include "parse/parse.h"

namespace splitcc {
namespace {

int precedence(Tok op)
{
    switch (op) {
    case Tok::OrOr:
        return 1;
    case Tok::AndAnd:
        return 2;
    case Tok::Pipe:
        return 3;
    case Tok::Caret:
        return 4;
    case Tok::Amp:
        return 5;
    case Tok::EqEq:
    case Tok::NotEq:
        return 6;
    case Tok::Lt:
    case Tok::Gt:
    case Tok::Le:
    case Tok::Ge:
        return 7;
    case Tok::Shl:
    case Tok::Shr:
        return 8;
    case Tok::Plus:
    case Tok::Minus:
        return 9;
    case Tok::Star:
    case Tok::Slash:
    case Tok::Percent:
        return 10;
    default:
        return 0;
    }
}

bool is_assignment(Tok op)
{
    return op >= Tok::Assign && op <= Tok::OrAssign;
}

// Inside brackets, a colon does not end the expression around them.
class Bracketed {
public:
    explicit Bracketed(bool &flag, bool value = false) : flag_(flag), saved_(flag) { flag = value; }
    ~Bracketed() { flag_ = saved_; }
    Bracketed(const Bracketed &) = delete;
    Bracketed &operator=(const Bracketed &) = delete;

private:
    bool &flag_;
    bool saved_;
};

} // namespace

Expr *Parser::start(ExprKind kind, uint32_t first)
{
    Expr *e = ast_.expr(kind);
    e->first = first;
    return e;
}

Expr *Parser::close(Expr *e)
{
    e->last = pos_;
    return e;
}

// expression = assignment {"," assignment}
Expr *Parser::expression()
{
    Expr *left = assignment();
    while (is(Tok::Comma)) {
        Expr *e = start(ExprKind::Comma, left->first);
        pos_++;
        e->a = left;
        e->b = assignment();
        left = sema_.comma(close(e));
    }
    return left;
}

// assignment = conditional [("=" | "*=" | ... | ":=" | ":-") assignment]
Expr *Parser::assignment()
{
    Depth depth(*this);
    Expr *left = conditional();
    bool split_phase = is_pair(Tok::Assign);
    bool store = !colon_ends_ && is_pair(Tok::Minus);
    if (!split_phase && !store && !is_assignment(peek().kind))
        return left;
    Expr *e = start(split_phase ? ExprKind::SplitPhase
                    : store     ? ExprKind::Store
                                : ExprKind::Assign,
                    left->first);
    e->op = peek().kind;
    e->name_token = pos_;
    pos_ += split_phase || store ? 2 : 1;
    e->a = left;
    e->b = assignment();
    close(e);
    return split_phase ? sema_.split_phase(e) : store ? sema_.store(e) : sema_.assign(e);
}

// constant = conditional, where a colon may follow
Expr *Parser::constant()
{
    Bracketed colon(colon_ends_, true);
    Expr *e = sema_.value(conditional());
    sema_.check_constant(e, "a constant has to stand here");
    return e;
}

// conditional = binary ["?" [expression] ":" conditional]
Expr *Parser::conditional()
{
    Expr *condition = binary(1);
    if (!is(Tok::Question))
        return condition;
    Depth depth(*this);
    Expr *e = start(ExprKind::Conditional, condition->first);
    pos_++;
    e->a = condition;
    if (!is(Tok::Colon)) {
        Bracketed colon(colon_ends_, true);
        e->b = expression();
    }
    const uint32_t colon = pos_;
    const bool minus = is_pair(Tok::Minus);
    expect(Tok::Colon, "':' of the conditional expression");
    e->c = conditional();
    if (minus && is(Tok::Colon) && !colon_ends_)
        fail({tokens_[colon].offset, tokens_[colon + 1].end()},
             "between '?' and ':', ':-' is a ':' and a '-'; put the store into parentheses");
    return sema_.conditional(close(e));
}

// binary = cast {operator cast}, by precedence
Expr *Parser::binary(int least)
{
    Expr *left = cast();
    for (int level; (level = precedence(peek().kind)) >= least;) {
        bool logical = is(Tok::AndAnd) || is(Tok::OrOr);
        Expr *e = start(logical ? ExprKind::Logical : ExprKind::Binary, left->first);
        e->op = peek().kind;
        e->name_token = pos_++;
        e->a = left;
        e->b = binary(level + 1);
        close(e);
        left = logical ? sema_.logical(e) : sema_.binary(e);
    }
    return left;
}

// cast = "(" type-name ")" cast | unary
Expr *Parser::cast()
{
    if (!is(Tok::LParen) || !starts_type(1))
        return unary();
    Depth depth(*this);
    uint32_t first = pos_++;
    TypeName *type = type_name();
    expect(Tok::RParen, "')' after the type");
    if (is(Tok::LBrace))
        return postfix(compound_literal(first, type));
    Expr *e = start(ExprKind::Cast, first);
    e->type_name = type;
    e->a = cast();
    return sema_.cast(close(e));
}

// unary = postfix | ("++" | "--" | "&" | "*" | "+" | "-" | "~" | "!" |
//         "__real__" | "__imag__" | "__extension__") cast | "&&" identifier | sizeof ...
Expr *Parser::unary()
{
    Depth depth(*this);
    uint32_t first = pos_;
    Tok op = peek().kind;
    Expr *e;
    switch (op) {
    case Tok::Inc:
    case Tok::Dec:
        e = start(ExprKind::PreInc, first);
        break;
    case Tok::Amp:
        e = start(ExprKind::AddressOf, first);
        break;
    case Tok::Star:
        e = start(ExprKind::Deref, first);
        break;
    case Tok::Plus:
    case Tok::Minus:
    case Tok::Tilde:
    case Tok::Bang:
    case Tok::KwReal:
    case Tok::KwImag:
    case Tok::KwExtension:
        e = start(ExprKind::Unary, first);
        break;
    case Tok::AndAnd: {
        pos_++;
        expect(Tok::Ident, "the name of a label");
        return sema_.other(close(start(ExprKind::LabelAddress, first)),
                           types_.pointer(types_.basic(TypeKind::Void)));
    }
    case Tok::KwSizeof:
    case Tok::KwAlignof:
        return sizeof_expression();
    default:
        return postfix(primary());
    }
    e->op = op;
    e->name_token = pos_++;
    e->a = cast();
    close(e);
    switch (e->kind) {
    case ExprKind::PreInc:
        return sema_.step(e);
    case ExprKind::AddressOf:
        return sema_.address_of(e);
    case ExprKind::Deref:
        return sema_.deref(e);
    default:
        return sema_.unary(e);
    }
}

// sizeof = ("sizeof" | "_Alignof") (unary | "(" type-name ")")
Expr *Parser::sizeof_expression()
{
    uint32_t first = pos_++;
    Tok op = tokens_[first].kind;
    if (is(Tok::LParen) && starts_type(1)) {
        uint32_t open = pos_++;
        TypeName *type = type_name();
        expect(Tok::RParen, "')' after the type");
        if (!is(Tok::LBrace)) {
            Expr *e = start(ExprKind::SizeofType, first);
            e->op = op;
            e->type_name = type;
            return sema_.size(close(e));
        }
        Expr *e = start(ExprKind::SizeofExpr, first);
        e->op = op;
        e->a = postfix(compound_literal(open, type));
        return sema_.size(close(e));
    }
    Expr *e = start(ExprKind::SizeofExpr, first);
    e->op = op;
    e->a = unary();
    return sema_.size(close(e));
}

// postfix = primary {"[" expression "]" | "(" arguments ")" | "." name | "->" name |
//                    "++" | "--"}
Expr *Parser::postfix(Expr *e)
{
    for (;;) {
        uint32_t first = e->first;
        Expr *next;
        switch (peek().kind) {
        case Tok::LBracket: {
            Bracketed colon(colon_ends_);
            next = start(ExprKind::Index, first);
            next->name_token = pos_++;
            next->a = e;
            next->b = expression();
            expect(Tok::RBracket, "']'");
            e = sema_.index(close(next));
            break;
        }
        case Tok::LParen:
            next = start(ExprKind::Call, first);
            next->a = e;
            arguments(next);
            e = sema_.call(close(next));
            break;
        case Tok::Dot:
        case Tok::Arrow: {
            next = start(is(Tok::Dot) ? ExprKind::Dot : ExprKind::Arrow, first);
            pos_++;
            next->a = e;
            next->name_token = pos_;
            Name *name = peek().name;
            if (!is(Tok::Ident))
                unexpected("the name of a member");
            pos_++;
            e = sema_.member(close(next), name);
            break;
        }
        case Tok::Inc:
        case Tok::Dec:
            next = start(ExprKind::PostInc, first);
            next->op = peek().kind;
            next->name_token = pos_++;
            next->a = e;
            e = sema_.step(close(next));
            break;
        default:
            return e;
        }
    }
}

void Parser::arguments(Expr *call)
{
    Bracketed colon(colon_ends_);
    expect(Tok::LParen, "'('");
    if (!is(Tok::RParen)) {
        do
            call->args.push_back(assignment());
        while (accept(Tok::Comma));
    }
    expect(Tok::RParen, "')' after the arguments");
}

// primary = identifier | number | character | string | "(" expression ")" |
//           "(" compound-statement ")" | _Generic ... | builtins that take types
Expr *Parser::primary()
{
    uint32_t first = pos_;
    switch (peek().kind) {
    case Tok::Ident: {
        if (is_string() && is_string(1))
            return string_literal();
        Name *name = peek().name;
        bool misplaced = is_space_word() && !name->ordinary && starts_type(1); // (global int *)
        pos_++;
        if (misplaced)
            check_word_before_name();
        take_from_block(name);
        return sema_.identifier(close(start(ExprKind::Ident, first)), name, is(Tok::LParen));
    }
    case Tok::Number:
        pos_++;
        return sema_.number(close(start(ExprKind::Number, first)));
    case Tok::Char:
        pos_++;
        return sema_.character(close(start(ExprKind::Char, first)));
    case Tok::String:
        return string_literal();
    case Tok::LParen:
        return parenthesized();
    case Tok::KwGeneric:
        return generic_selection();
    case Tok::KwVaArg:
    case Tok::KwOffsetof:
    case Tok::KwTypesCompatible:
    case Tok::KwChooseExpr:
    case Tok::KwConvertVector:
        return type_builtin();
    default:
        check_reversed_pair();
        check_compound_pair();
        unexpected("an expression");
    }
}

Expr *Parser::parenthesized()
{
    Bracketed colon(colon_ends_);
    uint32_t first = pos_++;
    if (is(Tok::LBrace))
        return statement_expression(first);
    Expr *e = start(ExprKind::Paren, first);
    e->a = expression();
    expect(Tok::RParen, "')'");
    return sema_.paren(close(e));
}

Expr *Parser::statement_expression(uint32_t first)
{
    Depth depth(*this);
    Expr *e = start(ExprKind::StmtExpr, first);
    scopes_.enter();
    Stmt *body = compound(nullptr);
    scopes_.leave();
    e->body = body;
    expect(Tok::RParen, "')' after the statement expression");
    // The value is that of the last statement, if it is an expression.
    const Type *type = types_.basic(TypeKind::Void);
    if (!body->children.empty()) {
        Stmt *last = static_cast<Stmt *>(body->children.back());
        if (last->node == NodeKind::Stmt && last->kind == StmtKind::Expression &&
            !last->children.empty()) {
            Expr *value = static_cast<Expr *>(last->children.back());
            sema_.mark_discarded(value, false);
            last->children.back() = value = sema_.value(value);
            last->touched |= value->touched;
            body->touched |= value->touched;
            type = sema_.value_type(value);
        }
    }
    close(e);
    return sema_.other(e, type);
}

Expr *Parser::compound_literal(uint32_t first, TypeName *type)
{
    Expr *e = start(ExprKind::CompoundLiteral, first);
    e->type_name = type;
    Subobjects objects(type->type, types_.unknown(), nullptr);
    e->body = initializer_list(objects);
    return sema_.compound_literal(close(e));
}

// _Generic "(" assignment {"," (type-name | "default") ":" assignment} ")"
Expr *Parser::generic_selection()
{
    Depth depth(*this);
    Bracketed colon(colon_ends_);
    Expr *e = start(ExprKind::Generic, pos_++);
    expect(Tok::LParen, "'(' after _Generic");
    e->a = assignment();
    while (accept(Tok::Comma)) {
        e->types.push_back(accept(Tok::KwDefault) ? nullptr : type_name());
        expect(Tok::Colon, "':' of the association");
        e->args.push_back(assignment());
    }
    expect(Tok::RParen, "')'");
    return sema_.generic(close(e));
}

// The builtins of GNU C that take a type as an argument.
Expr *Parser::type_builtin()
{
    Depth depth(*this);
    Bracketed colon(colon_ends_);
    uint32_t first = pos_;
    Tok which = peek().kind;
    pos_++;
    expect(Tok::LParen, "'('");
    Expr *e;
    const Type *type;
    switch (which) {
    case Tok::KwVaArg:
    case Tok::KwConvertVector:
        e = start(which == Tok::KwVaArg ? ExprKind::VaArg : ExprKind::ConvertVector, first);
        e->a = sema_.value(assignment());
        expect(Tok::Comma, "','");
        e->type_name = type_name();
        type = e->type_name->type;
        break;
    case Tok::KwOffsetof:
        e = start(ExprKind::Offsetof, first);
        e->type_name = type_name();
        expect(Tok::Comma, "','");
        expect(Tok::Ident, "the name of a member");
        while (!is(Tok::RParen)) {
            if (accept(Tok::Dot) || accept(Tok::Arrow)) {
                expect(Tok::Ident, "the name of a member");
            } else {
                expect(Tok::LBracket, "'.', '[' or ')'");
                e->args.push_back(sema_.value(expression()));
                expect(Tok::RBracket, "']'");
            }
        }
        type = types_.basic(TypeKind::ULong);
        break;
    case Tok::KwTypesCompatible:
        e = start(ExprKind::TypesCompatible, first);
        e->types.push_back(type_name());
        expect(Tok::Comma, "','");
        e->types.push_back(type_name());
        type = types_.basic(TypeKind::Int);
        break;
    default: // KwChooseExpr
        e = start(ExprKind::ChooseExpr, first);
        e->a = sema_.value(assignment());
        expect(Tok::Comma, "','");
        e->b = assignment();
        expect(Tok::Comma, "','");
        e->c = assignment();
        expect(Tok::RParen, "')'");
        return sema_.choose(close(e));
    }
    expect(Tok::RParen, "')'");
    return sema_.other(close(e), type);
}

} // namespace splitcc
