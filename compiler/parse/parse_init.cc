// SPDX-License-Identifier: BSD-3-Clause
//
// Initializers.
#include "parse/parse.h"

namespace splitcc {

// Accepts the "=" of an initializer.  `:=` and `:-` are reported, and then accepted for it.
bool Parser::accept_initializer(const InitDeclarator &d)
{
    if (!is_pair(Tok::Assign) && !is_pair(Tok::Minus))
        return accept(Tok::Assign);
    const Range pair = {peek().offset, peek(1).end()};
    const std::string word(text_.substr(pair.begin, 2));
    const std::string name(d.declarator.name->text);
    diag_
        .error(pair, "'" + word + "' is no initializer; write '=', or '" + name + " " + word +
                         " ...;' as a statement of its own")
        .replace(pair, "=");
    pos_ += 2;
    return true;
}

// initializer = assignment | "{" ... "}"
Node *Parser::initializer(Subobjects &objects)
{
    if (is(Tok::LBrace))
        return initializer_list(objects);
    return sema_.initialize(objects, assignment());
}

// initializer-list = "{" [initializer-item {"," initializer-item}] [","] "}"
InitList *Parser::initializer_list(Subobjects &objects)
{
    Depth depth(*this);
    InitList *list = ast_.init_list();
    list->first = pos_;
    bool colon = colon_ends_;
    colon_ends_ = true; // in `name: value`, the colon ends the name
    expect(Tok::LBrace, "'{'");
    objects.open();
    while (!is(Tok::RBrace)) {
        initializer_item(list, objects);
        if (!accept(Tok::Comma))
            break;
    }
    objects.close();
    colon_ends_ = colon;
    expect(Tok::RBrace, "'}' after the initializers");
    list->last = pos_;
    return list;
}

// initializer-item = [designation] initializer
void Parser::initializer_item(InitList *list, Subobjects &objects)
{
    const Ast::Mark before = ast_.mark();
    const size_t count = list->parts.size();
    designation(list, objects);
    list->parts.push_back(initializer(objects));
    bool touched = false;
    for (size_t i = count; i < list->parts.size(); i++)
        touched |= list->parts[i]->touched;
    list->touched |= touched;
    // Tables are long, so the nodes of what does not change are released.
    if (objects.static_object() && !touched) {
        list->parts.resize(count);
        ast_.release(before);
    }
}

// designation = {"." name | index-designator} "=" | name ":"
void Parser::designation(InitList *list, Subobjects &objects)
{
    bool old = is(Tok::Ident) && peek(1).kind == Tok::Colon;
    if (!old && !is(Tok::Dot) && !is(Tok::LBracket))
        return;
    objects.designation();
    if (old) {
        objects.member(peek().name);
        pos_ += 2;
        return;
    }
    bool member = false;
    while (is(Tok::Dot) || is(Tok::LBracket)) {
        member = accept(Tok::Dot);
        if (member) {
            objects.member(peek().name);
            expect(Tok::Ident, "the name of a member");
        } else {
            index_designator(list, objects);
        }
    }
    if (!accept(Tok::Assign) && member)
        unexpected("'=' after the designator"); // `[i] value` is allowed in old GNU C
}

// index-designator = "[" constant ["..." constant] "]"
void Parser::index_designator(InitList *list, Subobjects &objects)
{
    pos_++;
    Expr *index = constant();
    list->parts.push_back(index);
    if (accept(Tok::Ellipsis))
        list->parts.push_back(index = constant());
    objects.element(index->value);
    expect(Tok::RBracket, "']'");
}

} // namespace splitcc
