// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lower.h"

#include <algorithm>
#include <utility>

namespace splitcc {

Rope Lower::unit(const Ast &ast)
{
    checks_ = ast.checks;
    profile_ = ast.profile;
    translated_ = ast.translated;
    for (const Symbol *symbol : ast.renamed)
        rename(symbol);
    for (const Replacement &tokens : ast.replaced)
        substitutions_[tokens.first] = {tokens.last, tokens.text};
    Splice splice(*this, 0);
    std::vector<std::pair<uint32_t, std::string>> early = ast.early;
    std::stable_sort(early.begin(), early.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
    size_t next = 0;
    auto declare_early = [&](uint32_t until) {
        for (; next < early.size() && early[next].first < until; next++)
            splice.replace(early[next].first, early[next].first, early[next].second + " ");
    };
    for (const Node *n : ast.unit) {
        if (!n->touched)
            continue;
        declare_early(n->first);
        Rope rope = node(n);
        pending_ += std::exchange(definitions_, Rope());
        for (; next < early.size() && early[next].first == n->first; next++)
            pending_ += " " + early[next].second;
        // What the declaration needs at file scope is inserted behind the previous declaration,
        // where it changes the column of no token.
        splice.replace(n->first, n->first, std::move(pending_));
        pending_ = Rope();
        splice.replace(n->first, n->last, std::move(rope));
    }
    declare_early(UINT32_MAX);
    if (checks_)
        end_ += "const char splitc_wants_checks __attribute__((weak)) = 1;\n";
    if (ast.large_stack)
        end_ += "const char splitc_wants_stack __attribute__((weak)) = 1;\n";
    if (!last_site_.empty())
        end_ += "static void __attribute__((constructor)) splitc_sites_register(void) { "
                "splitc_register_sites(&" +
                last_site_ + "); }\n";
    Rope text = splice.finish(static_cast<uint32_t>(tokens_.size() - 1));
    return std::move(text) + std::move(end_) + handlers(ast.handlers);
}

void Lower::keep_comments(const std::vector<uint32_t> &tokens)
{
    Locator locator(source_);
    for (uint32_t token : tokens)
        if (token > 0 && !source_.position(tokens_[token].offset).system) {
            const Range before = tokens_[token - 1].range();
            std::string text = locator.comments_between(before, tokens_[token].range());
            if (!text.empty())
                substitutions_[token] = {token, std::move(text), Substitution::BeforeGap};
        }
}

// Gives a symbol that hides the name of a type another name, because emitted code may have to use
// the type where it is hidden.
void Lower::rename(const Symbol *symbol)
{
    std::string name = symbol->emitted.empty()
                           ? fresh("hiding") + "_" + std::string(symbol->name->text)
                           : symbol->emitted;
    if (symbol->record)
        symbol->record->spelled = (symbol->record->is_union ? "union " : "struct ") + name;
    else if (symbol->enumeration)
        symbol->enumeration->spelled = "enum " + name;
    for (uint32_t token : symbol->uses)
        substitutions_[token] = {token + 1, name};
}

Rope Lower::node(const Node *n)
{
    if (hoisting_ && n->node == NodeKind::Expr)
        return hoisted(static_cast<const Expr *>(n));
    if (!n->touched)
        return Rope::tokens(n->first, n->last);
    switch (n->node) {
    case NodeKind::Expr:
        return expr(static_cast<const Expr *>(n));
    case NodeKind::Stmt:
        return stmt(static_cast<const Stmt *>(n));
    case NodeKind::Declaration:
        return declaration(static_cast<const Declaration *>(n));
    case NodeKind::TypeName:
        return type_name(static_cast<const TypeName *>(n));
    case NodeKind::InitList: {
        const auto &parts = static_cast<const InitList *>(n)->parts;
        return children(n, {parts.begin(), parts.end()});
    }
    }
    return {};
}

// Returns the text of the node, with the text of each child in its place.
Rope Lower::children(const Node *n, std::vector<const Node *> list)
{
    std::erase(list, nullptr);
    std::stable_sort(list.begin(), list.end(),
                     [](const Node *a, const Node *b) { return a->first < b->first; });
    Splice splice(*this, n->first);
    for (const Node *child : list)
        splice.child(child);
    return splice.finish(n->last);
}

Rope Lower::stmt(const Stmt *s)
{
    if (s->kind == StmtKind::Compound)
        return compound(s);
    if (s->kind == StmtKind::For)
        return for_statement(s);
    return children(s, {s->children.begin(), s->children.end()});
}

Rope Lower::compound(const Stmt *s)
{
    Splice splice(*this, s->first);
    if (s->function)
        splice.replace(s->first + 1, s->first + 1, capture_parameters(*s->function));
    for (const Node *child : s->children) {
        if (!child || !(child->touched || hoisting_))
            continue;
        Rope outer = std::exchange(definitions_, Rope());
        Rope rope = node(child);
        splice.replace(child->first, child->first, std::exchange(definitions_, std::move(outer)));
        splice.replace(child->first, child->last, std::move(rope));
    }
    // Falling off the end of splitc_main returns 0, as in main.
    if (!translated_ && s->function && s->function->name &&
        s->function->name->text == "splitc_main" && s->result->kind == TypeKind::Int)
        splice.replace(s->last - 1, s->last - 1, " return 0; ");
    return splice.finish(s->last);
}

// If the declaration in the head of a `for` has to be split into several, it moves to a block
// around the statement.
Rope Lower::for_statement(const Stmt *s)
{
    const Node *first = s->children.empty() ? nullptr : s->children.front();
    bool moves = first && first->node == NodeKind::Declaration && first->touched &&
                 needs_split(static_cast<const Declaration *>(first));
    if (!moves)
        return children(s, {s->children.begin(), s->children.end()});
    Rope rope("{ ");
    rope += node(first);
    Splice splice(*this, s->first);
    splice.replace(first->first, first->last, ";");
    for (size_t i = 1; i < s->children.size(); i++)
        splice.child(s->children[i]);
    rope += splice.finish(s->last);
    rope += " }";
    return rope;
}

} // namespace splitcc
