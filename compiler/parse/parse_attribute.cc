// SPDX-License-Identifier: BSD-3-Clause
//
// Attributes and alignments.
#include "parse/parse.h"

namespace splitcc {

// attributes = {"__attribute__" "(" "(" [attribute] {"," [attribute]} ")" ")"}
// attributes = {"__attribute__" "((" {attribute | ","} "))" | "[[" {attribute | ","} "]]"}
void Parser::attributes()
{
    while (accept(Tok::KwAttribute)) {
        bool standard = accept(Tok::LBracket);
        Tok close = standard ? Tok::RBracket : Tok::RParen;
        if (!standard) {
            expect(Tok::LParen, "'(('");
            expect(Tok::LParen, "'(('");
        }
        while (!is(close))
            if (!accept(Tok::Comma))
                attribute();
        expect(close, standard ? "']]'" : "'))'");
        expect(close, standard ? "']]'" : "'))'");
    }
}

// attribute = [name "::"] name ["(" ... ")"]; notes those that change what splitcc has to know
void Parser::attribute()
{
    if (!peek().name)
        unexpected("the name of an attribute");
    if (peek(1).kind == Tok::Colon && peek(2).kind == Tok::Colon && peek(3).name)
        pos_ += 3;
    std::string_view name = tokens_[pos_++].name->text;
    if (name.starts_with("__") && name.ends_with("__") && name.size() > 4)
        name = name.substr(2, name.size() - 4);
    if (name == "vector_size" || name == "mode")
        attribute_changes_type_ = true;
    if (name == "packed" || name == "aligned" || name == "ms_struct" ||
        name == "scalar_storage_order")
        attribute_changes_layout_ = true;
    if (name == "overloadable")
        attribute_overloads_ = true;
    if (name == "aligned" && is(Tok::LParen))
        alignment();
    else if (is(Tok::LParen))
        skip_balanced();
}

// alignment = "(" (constant | type-name) ")", of _Alignas and of the attribute
void Parser::alignment()
{
    expect(Tok::LParen, "'('");
    if (starts_type()) {
        const TypeName *type = type_name();
        if (type->touched) // the alignment of all far pointers
            ast_.replaced.push_back({type->first, type->last, "unsigned long"});
    } else if (const Expr *e = constant(); e->touched && e->value) {
        ast_.replaced.push_back({e->first, e->last, std::to_string(*e->value)});
    }
    expect(Tok::RParen, "')'");
}

// Returns the token behind the attributes that begin at `at`.
uint32_t Parser::behind_attributes(uint32_t at) const
{
    while (tokens_[at].kind == Tok::KwAttribute) {
        bool standard = tokens_[++at].kind == Tok::LBracket;
        int depth = 0;
        do {
            Tok kind = tokens_[at].kind;
            if (kind == Tok::End)
                return at;
            depth += (kind == Tok::LParen || kind == Tok::LBracket) -
                     (kind == Tok::RParen || kind == Tok::RBracket);
            at++;
        } while (depth > 0);
        at += standard; // the second ]
    }
    return at;
}

// Returns whether the attributes belong to a declaration, or to a type in parentheses.
bool Parser::attribute_before_type(uint32_t ahead) const
{
    return starts_declaration(behind_attributes(pos_ + ahead) - pos_);
}

} // namespace splitcc
