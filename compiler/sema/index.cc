// SPDX-License-Identifier: BSD-3-Clause
#include "sema/index.h"

#include <algorithm>
#include <tuple>

namespace splitcc {
namespace {

constexpr std::string_view kWindowOrMessage =
    "here and where windows reach it is a load or store, elsewhere a message and its answer";

std::string about(const Symbol *symbol)
{
    std::string name(symbol->name->text);
    std::string type = symbol->type ? ": " + describe(symbol->type) : "";

    switch (symbol->kind) {
    case SymbolKind::Function:
        return "function " + name + type;
    case SymbolKind::Typedef:
        return "typedef " + name + type;
    case SymbolKind::Constant:
        return "constant " + name + (symbol->value ? " = " + std::to_string(*symbol->value) : "");
    case SymbolKind::Tag:
        return symbol->enumeration ? "enum " + name
               : !symbol->record   ? "tag " + name // which is being declared
                                   : (symbol->record->is_union ? "union " : "struct ") + name;
    case SymbolKind::Builtin:
        return name;
    case SymbolKind::Object:
        break;
    }
    return (symbol->parameter ? "parameter " : "variable ") + name + type;
}

} // namespace

bool Index::is_users(Range where) const
{
    return source_.position(where.begin).file == file_;
}

void Index::note(uint32_t first, uint32_t last, std::string text, std::optional<uint32_t> declared)
{
    const Range where = tokens_.range(first, last);

    if (is_users(where))
        notes_.push_back({where, std::move(text), declared});
}

void Index::name(uint32_t token, const Symbol *symbol)
{
    if (symbol->name && symbol->kind != SymbolKind::Builtin && !symbol->implicit)
        note(token, token + 1, about(symbol), symbol->token);
}

void Index::member(uint32_t token, const Type *record, const Member *member)
{
    note(token, token + 1,
         "member " + std::string(member->name->text) + " of " + describe(record->unqualified) +
             ": " + describe(member->type),
         member->token);
}

// The operator of a Deref is its first token.
void Index::access(const Expr *e)
{
    const uint32_t token = e->kind == ExprKind::Deref ? e->first : e->name_token;

    note(token, token + 1,
         "access to " + quoted(e->type) +
             " in the global address space: " + std::string(kWindowOrMessage));
}

void Index::split_phase(const Expr *e)
{
    std::string_view what = e->kind == ExprKind::Store ? "one-way store" : "get";

    if (e->kind == ExprKind::SplitPhase && e->a->global)
        what = "put";
    note(e->name_token, e->name_token + 2,
         "split-phase " + std::string(what) +
             ", which does not wait: " + std::string(kWindowOrMessage) +
             (e->kind == ExprKind::Store ? "; store_sync or all_store_sync completes it"
                                         : "; sync() completes it"));
}

std::vector<IndexEntry> Index::take()
{
    Locator locator(source_);
    std::vector<IndexEntry> entries;

    for (Note &note : notes_) {
        const Located at = locator.locate(note.where);
        if (!at.macro.empty() || at.span.begin == 0)
            continue;
        IndexEntry entry{at.position, at.span, std::move(note.text), {}, {}};
        if (note.declared) {
            const Located declared = locator.locate(tokens_[*note.declared].range());
            entry.declared = declared.position;
            entry.declared_span = declared.span;
        }
        entries.push_back(std::move(entry));
    }
    const auto place = [](const IndexEntry &e) { return std::tuple(e.at.line, e.span.begin); };
    std::stable_sort(entries.begin(), entries.end(),
                     [&](const IndexEntry &a, const IndexEntry &b) { return place(a) < place(b); });
    return entries;
}

std::string render_index(const std::vector<IndexEntry> &entries)
{
    std::string text = "[";
    for (const IndexEntry &e : entries) {
        text += text.size() > 1 ? ",\n" : "\n";
        text += "{" + json_number("line", e.at.line) + ", " + json_number("begin", e.span.begin) +
                ", " + json_number("end", e.span.end) + ", \"text\": " + json_quoted(e.text);
        if (e.declared.line > 0)
            text += ", \"file\": " + json_quoted(e.declared.file) + ", " +
                    json_number("declared", e.declared.line) + ", " +
                    json_number("declared-begin", e.declared_span.begin) + ", " +
                    json_number("declared-end", e.declared_span.end);
        text += "}";
    }
    return text + "\n]\n";
}

} // namespace splitcc
