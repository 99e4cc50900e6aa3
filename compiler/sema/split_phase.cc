// SPDX-License-Identifier: BSD-3-Clause
#include "sema/split_phase.h"

#include <algorithm>
#include <optional>

#include "sema/place.h"

namespace splitcc {
namespace {

// A get or put that has been started and may not be complete, with an object that it uses.
struct Transfer {
    enum Role : uint8_t { Get, Put, Source }; // the transfer fills, writes or reads the object
    const Expr *start;
    Place place;
    Role role;
};

// The transfers in progress at one point of the function.
struct State {
    std::vector<Transfer> transfers;
    bool reached = true; // false behind a jump

    void meet(const State &other)
    {
        if (!other.reached)
            return;
        if (!reached) {
            *this = other;
            return;
        }
        std::erase_if(transfers, [&](const Transfer &mine) {
            return std::none_of(other.transfers.begin(), other.transfers.end(),
                                [&](const Transfer &t) { return t.start == mine.start; });
        });
    }
};

class Checker {
public:
    Checker(Tokens &tokens, Diagnostics &diag) : tokens_(tokens), diag_(diag) {}
    void node(const Node *n);

private:
    void statement(const Stmt *s);
    void other_statement(const Stmt *s);
    void branches(const Stmt *s);
    void for_statement(const Stmt *s);
    template <class Body> void loop(Body body, bool at_least_once = false);
    void jump(const Stmt *s);
    void declaration(const Declaration *d);

    void value(const Expr *e);
    void address(const Expr *e);
    void operands(const Expr *e);
    void assignment(const Expr *e);
    void split_phase(const Expr *e);
    void call(const Expr *e);
    bool transfer_call(const Expr *e);
    template <class Part> void maybe(Part part);

    void start(const Expr *e, std::optional<Place> object, Transfer::Role role);
    void uses(const Expr *e, bool write);
    void written(const Expr *e);
    void forget() { state_.transfers.clear(); }

    Range range(const Node *n) const { return tokens_.range(n->first, n->last); }

    Tokens &tokens_;
    Diagnostics &diag_;
    State state_;
    std::optional<State> left_; // the state at break and continue statements of the innermost loop
};

// ---- objects

void Checker::start(const Expr *e, std::optional<Place> object, Transfer::Role role)
{
    if (!object || !state_.reached)
        return;
    std::erase_if(state_.transfers, [&](const Transfer &t) { return t.place == *object; });
    state_.transfers.push_back({e, std::move(*object), role});
}

void Checker::uses(const Expr *e, bool write)
{
    std::optional<Place> place = e->type->is_unknown() ? std::nullopt : place_of(e);
    if (!place)
        return;
    auto clashes = [&](const Transfer &t) {
        return t.place.overlaps(*place) && (write || t.role != Transfer::Source);
    };
    auto found = std::find_if(state_.transfers.begin(), state_.transfers.end(), clashes);
    if (found == state_.transfers.end())
        return;
    static constexpr std::string_view roles[] = {"get that fills", "put that writes",
                                                 "put that reads"};
    std::string object =
        place->steps.empty() ? "'" + std::string(place->base->name->text) + "'" : "this";
    diag_
        .warning(range(e), "-Wsplit-phase",
                 object + (write ? " is assigned to" : " is read") + " while the " +
                     std::string(roles[found->role]) + " it may be under way; call sync() before")
        .note(range(found->start), "it starts here");
    state_.transfers.erase(found); // report it once
}

// After an assignment, a place that depends on the old value is not named any more.
void Checker::written(const Expr *e)
{
    if (std::optional<Place> place = place_of(e))
        std::erase_if(state_.transfers,
                      [&](const Transfer &t) { return t.place.depends_on(*place); });
}

// ---- expressions

// Analyses a part that may be skipped: afterwards only what holds with and without it is known.
template <class Part> void Checker::maybe(Part part)
{
    State without = state_;
    part();
    state_.meet(without);
}

void Checker::value(const Expr *e)
{
    switch (e->kind) {
    case ExprKind::Ident:
    case ExprKind::Index:
    case ExprKind::Dot:
    case ExprKind::Arrow:
    case ExprKind::Deref:
        address(e);
        if (e->type->kind != TypeKind::Array && e->type->kind != TypeKind::SpreadArray &&
            !e->discarded)
            uses(e, false);
        break;
    case ExprKind::GlobalRead:
        address(e->a);
        uses(strip(e->a), false);
        break;
    case ExprKind::GlobalDecay:
    case ExprKind::SpreadDecay:
    case ExprKind::AddressOf:
        address(e->a);
        break;
    case ExprKind::SizeofExpr:
    case ExprKind::SizeofType:
        break; // not evaluated
    case ExprKind::Generic:
        if (e->b)
            value(e->b); // the one that was selected
        break;
    case ExprKind::Cast: {
        bool unused = e->type->kind == TypeKind::Void; // (void)x
        unused ? address(e->a) : value(e->a);
        break;
    }
    case ExprKind::Assign:
    case ExprKind::PreInc:
    case ExprKind::PostInc:
        assignment(e);
        break;
    case ExprKind::SplitPhase:
        split_phase(e);
        break;
    case ExprKind::Store:
        value(e->b);
        address(e->a);
        uses(strip(e->a), true);
        break;
    case ExprKind::Call:
        call(e);
        break;
    case ExprKind::Logical:
        value(e->a);
        maybe([&] { value(e->b); });
        break;
    case ExprKind::Conditional: {
        value(e->a);
        State before = state_;
        if (e->b)
            value(e->b);
        std::swap(before, state_);
        value(e->c);
        state_.meet(before);
        break;
    }
    default:
        operands(e);
    }
}

void Checker::operands(const Expr *e)
{
    for (const Expr *operand : {e->a, e->b, e->c})
        if (operand)
            value(operand);
    for (const Expr *arg : e->args)
        value(arg);
    if (e->body)
        node(e->body);
}

// Analyses what is evaluated in order to find the object that an lvalue designates.
void Checker::address(const Expr *e)
{
    if (e->type->is_unknown()) // that is reported
        return;
    switch (e->kind) {
    case ExprKind::Paren:
    case ExprKind::Dot:
        address(e->a);
        break;
    case ExprKind::Arrow:
    case ExprKind::Deref:
        value(e->a);
        break;
    case ExprKind::Index:
        value(e->a);
        value(e->b);
        break;
    case ExprKind::Ident:
        break;
    default:
        value(e);
    }
}

void Checker::assignment(const Expr *e)
{
    if (e->b)
        value(e->b);
    address(e->a);
    if (e->op != Tok::Assign)
        uses(strip(e->a), false);
    uses(strip(e->a), true);
    written(e->a);
}

void Checker::split_phase(const Expr *e)
{
    bool put = e->a->global;
    if (put) {
        value(e->b);
        address(e->a);
        uses(strip(e->a), true);
        return start(e, place_of(e->a), Transfer::Put);
    }
    bool complete = !e->b->global; // semantic analysis has made it a read that completes
    if (complete || strip(e->b)->kind == ExprKind::RunAtOwner)
        value(e->b);
    else
        address(e->b);
    if (!complete)
        uses(strip(e->b), false);
    address(e->a);
    written(e->a);
    if (!complete)
        start(e, place_of(e->a), Transfer::Get);
}

void Checker::call(const Expr *e)
{
    value(e->a);
    for (const Expr *arg : e->args)
        value(arg);
    if (!transfer_call(e))
        forget();
}

// Handles calls of the library that complete no transfer, some of which start one.  Returns false
// for other calls.
bool Checker::transfer_call(const Expr *e)
{
    const Expr *function = strip(e->a);
    if (function->kind != ExprKind::Ident || !function->symbol || !function->symbol->name)
        return false;
    std::string_view name = function->symbol->name->text;
    bool get = name == "bulk_get" || name == "bulk_get_h";
    bool put = name == "bulk_put" || name == "bulk_put_h";
    if ((get || put) && e->args.size() == 3)
        start(e, pointee(e->args[put ? 1 : 0], e->args[2]), put ? Transfer::Source : Transfer::Get);
    static constexpr std::string_view others[] = {"barrier",     "bulk_read",   "bulk_write",
                                                  "bulk_store",  "get_seconds", "store_sync",
                                                  "team_barrier"};
    return get || put || std::find(std::begin(others), std::end(others), name) != std::end(others);
}

// ---- statements

void Checker::node(const Node *n)
{
    switch (n->node) {
    case NodeKind::Expr:
        return value(static_cast<const Expr *>(n));
    case NodeKind::Stmt:
        return statement(static_cast<const Stmt *>(n));
    case NodeKind::Declaration:
        return declaration(static_cast<const Declaration *>(n));
    case NodeKind::InitList:
        for (const Node *item : static_cast<const InitList *>(n)->parts)
            node(item);
        return;
    case NodeKind::TypeName:
        return;
    }
}

void Checker::declaration(const Declaration *d)
{
    for (const InitDeclarator &item : d->declarators)
        if (item.init)
            node(item.init);
}

void Checker::statement(const Stmt *s)
{
    switch (s->kind) {
    case StmtKind::For:
        return for_statement(s);
    case StmtKind::Other:
        return other_statement(s);
    case StmtKind::Asm:
        return forget();
    default:
        for (const Node *child : s->children)
            node(child);
    }
}

void Checker::other_statement(const Stmt *s)
{
    switch (tokens_[s->first].kind) {
    case Tok::KwIf:
        return branches(s);
    case Tok::KwWhile:
    case Tok::KwDo: {
        bool once = tokens_[s->first].kind == Tok::KwDo;
        return loop(
            [&] {
                node(s->children[0]);
                node(s->children[1]);
            },
            once);
    }
    case Tok::KwGoto:
    case Tok::KwReturn:
    case Tok::KwBreak:
    case Tok::KwContinue:
        return jump(s);
    case Tok::KwSwitch:
        node(s->children[0]);
        forget();
        loop([&] { node(s->children[1]); }); // only for its break statements
        return forget();
    case Tok::Ident: // a label: any jump may lead here
    case Tok::KwCase:
    case Tok::KwDefault:
        state_ = State();
        break;
    default:
        break;
    }
    for (const Node *child : s->children)
        node(child);
}

void Checker::branches(const Stmt *s)
{
    node(s->children[0]);
    State otherwise = state_;
    node(s->children[1]);
    std::swap(otherwise, state_);
    if (s->children.size() > 2)
        node(s->children[2]);
    state_.meet(otherwise);
}

void Checker::jump(const Stmt *s)
{
    for (const Node *child : s->children)
        node(child);
    Tok how = tokens_[s->first].kind;
    if (how == Tok::KwBreak || how == Tok::KwContinue) {
        if (left_)
            left_->meet(state_);
        else
            left_ = state_;
    }
    state_.reached = false;
    forget();
}

// Analyses the first iteration.  After the loop, only what holds at the end of the body, at each
// break and continue, and, if the body may be skipped, before the loop, is known.
template <class Body> void Checker::loop(Body body, bool at_least_once)
{
    std::optional<State> outer = std::move(left_);
    left_.reset();
    State before = state_;
    body();
    if (!at_least_once)
        state_.meet(before);
    if (left_)
        state_.meet(*left_);
    left_ = std::move(outer);
}

// The third part of the head runs after the body.
void Checker::for_statement(const Stmt *s)
{
    int parens = 0, semicolons = 0;
    uint32_t at = s->first;
    for (; semicolons < 2; at++) {
        Tok kind = tokens_[at].kind;
        parens += (kind == Tok::LParen || kind == Tok::LBrace) -
                  (kind == Tok::RParen || kind == Tok::RBrace);
        semicolons += kind == Tok::Semi && parens == 1;
    }
    loop([&] {
        const Node *body = s->children.back();
        for (const Node *child : s->children)
            if (child != body && child->first < at)
                node(child);
        node(body);
        for (const Node *child : s->children)
            if (child != body && child->first >= at)
                node(child);
    });
}

} // namespace

void check_split_phase(const Declaration *function, Tokens &tokens, Diagnostics &diag)
{
    if (function->body->touched)
        Checker(tokens, diag).node(function->body);
}

} // namespace splitcc
