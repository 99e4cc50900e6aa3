// SPDX-License-Identifier: BSD-3-Clause
#include "translate.h"

#include <algorithm>

#include "ast/ast.h"
#include "diag/diag.h"
#include "emit/emit.h"
#include "lex/lex.h"
#include "lower/lower.h"
#include "parse/parse.h"
#include "source/source.h"

namespace splitcc {
namespace {

// Returns whether abi.h defines the enumerator as 1.  It tells so what the C compiler can do.
bool is_set(const Names &names, std::string_view enumerator)
{
    const Symbol *symbol = names.declared(enumerator);
    return symbol && symbol->value == 1;
}

} // namespace

Translation translate(std::string preprocessed, const TranslateOptions &options)
{
    auto owned = std::make_shared<Source>(std::move(preprocessed));
    Source &source = *owned;
    WarningPragmas pragmas(source);
    Diagnostics diag(source, options.warnings, pragmas);
    diag.set_limit(options.error_limit);

    Names names;
    for (std::string_view word : options.names)
        names.forget_keyword(word);
    Tokens tokens(source, names, diag);

    // The parser calls semantic analysis for each construct, so that after it every expression has
    // a type and every error has been reported.
    Types types;
    Ast ast;
    ast.checks = options.checks;
    ast.gnu89 = options.gnu89;
    ast.implied_messages = options.implied_messages;
    ast.large_stack = options.large_stack;
    ast.profile = options.profile;
    ast.notes_labels = options.comments_at_labels;
    Index index(source, tokens, options.index);
    if (!options.index.empty())
        ast.index = &index;
    Parser(source, tokens, names, types, ast, diag).translation_unit();
    const bool plain =
        std::none_of(ast.unit.begin(), ast.unit.end(), [](const Node *n) { return n->touched; });
    if (!plain && ast.main)
        diag.error(tokens[ast.main].range(), "a Split-C program begins in 'splitc_main', which "
                                             "every processor runs; rename this function");
    ast.translated = ast.defines(names.intern("splitc_entry"));
    if (names.declared("splitc_handlers"))
        ast.handlers.clear();

    Translation result;
    result.source = owned;
    result.ok = diag.errors() == 0;
    result.plain = plain;
    result.display_columns = is_set(names, "splitc_display_columns");
    if (result.ok) {
        Lower lower(source, tokens);
        lower.define_inlines(ast, is_set(names, "splitc_gnu_inline"),
                             !is_set(names, "splitc_asm_weak") ? Weak::ByAttribute
                             : options.link_time               ? Weak::NotInline
                                                               : Weak::ByAssembler);
        lower.keep_comments(ast.labels);
        Rope unit = lower.unit(ast);
        result.c = emit(source, tokens, unit, lower.substitutions(), result.origins);
    }
    for (const Name *object : ast.objects)
        result.objects.emplace(object->text);
    result.wants_messages = ast.wants_messages;
    result.index = index.take();
    result.too_many = diag.too_many();
    result.messages = diag.take();
    return result;
}

} // namespace splitcc
