// SPDX-License-Identifier: BSD-3-Clause
//
// Structs, unions and enumerations.
#include "parse/parse.h"
#include "sema/index.h"

namespace splitcc {

// Returns the symbol of a tag: the visible one, or a new one in this scope.
Symbol *Parser::tag(Name *name, bool defining)
{
    Symbol *symbol = name ? name->tag : nullptr;
    uint32_t token = pos_ > 0 ? pos_ - 1 : 0; // the parser is behind the name already
    if (!symbol || (defining && !scopes_.is_local(symbol))) {
        symbol = ast_.symbol();
        symbol->kind = SymbolKind::Tag;
        symbol->name = name;
        symbol->token = token;
        if (!name)
            return symbol;
        scopes_.declare(symbol);
        note_hidden(symbol);
    }
    if (symbol->hides_type)
        symbol->uses.push_back(token);
    if (ast_.index)
        ast_.index->name(token, symbol);
    return symbol;
}

void Parser::wrong_tag(uint32_t token, const Symbol *symbol, std::string_view what)
{
    diag_.error(tokens_[token].range(),
                "'" + std::string(symbol->name->text) + "' " + std::string(what));
    diag_.note(tokens_[symbol->token].range(), "it was declared here");
}

// record = ("struct" | "union") attributes (name | [name] "{" {member} "}") attributes
const Type *Parser::record_specifier(Specifiers &s)
{
    Depth depth(*this);
    uint32_t first = pos_;
    bool is_union = accept(Tok::KwUnion);
    if (!is_union)
        pos_++;
    attribute_changes_layout_ = false;
    attributes();
    Name *name = is(Tok::Ident) ? peek().name : nullptr;
    uint32_t name_token = pos_;
    if (name)
        pos_++;
    bool defining = is(Tok::LBrace);
    if (!name && !defining)
        unexpected("the tag of a struct or union, or '{'");
    bool only_declared = is(Tok::Semi); // `struct s;` declares a new s in this scope
    Symbol *symbol = tag(name, defining || only_declared);
    if (symbol->enumeration) {
        wrong_tag(name_token, symbol, "is the tag of an enum");
        throw SyntaxError();
    }
    if (!symbol->record) {
        symbol->record = types_.new_record();
        symbol->record->file_scope = scopes_.at_file_scope();
        symbol->record->is_union = is_union;
        symbol->record->tag = name;
        if (name)
            symbol->record->spelled = (is_union ? "union " : "struct ") + std::string(name->text);
        symbol->type = types_.record(symbol->record);
    }
    if (!defining)
        return symbol->type;
    Record *record = symbol->record;
    if (record->complete) {
        wrong_tag(name_token, symbol, "is defined twice");
        record = types_.new_record(); // what follows is of the first one
        record->is_union = is_union;
        record->tag = name;
        record->spelled = symbol->record->spelled;
    }
    RecordBody *body = ast_.record_body();
    body->record = record;
    body->first = first;
    body->record->brace = pos_;
    s.body = body;
    s.ended = !member_declarations(body);
    body->last = pos_;
    attributes();
    record->packed = attribute_changes_layout_;
    attribute_changes_type_ = false;
    record->complete = true;
    lay_out(record);
    record->const_member = find_const_member(record);
    for (const Node *member : body->members)
        s.touched |= member->touched;
    return symbol->type;
}

// Returns whether the '}' was there.
bool Parser::member_declarations(RecordBody *body)
{
    bool layout = attribute_changes_layout_;
    expect(Tok::LBrace, "'{'");
    while (!is(Tok::RBrace)) {
        if (accept(Tok::Semi))
            continue;
        if (is(Tok::KwStaticAssert)) {
            body->members.push_back(static_assertion());
            continue;
        }
        if (at_other_declaration()) {
            missing_record_end(body->record, pos_, "'" + std::string(peek().name->text) + "'");
            return false;
        }
        attribute_changes_layout_ = false;
        uint32_t before = pos_, scope = scopes_.depth();
        try {
            Declaration *member = member_declaration(body->record);
            if (!member)
                return false;
            body->members.push_back(member);
        } catch (const SyntaxError &) {
            if (diag_.too_many() || is(Tok::End))
                throw;
            scopes_.leave_to(scope);
            pos_ += pos_ == before;
            recover(before);
            if (is(Tok::End))
                throw;
        }
        layout |= attribute_changes_layout_;
    }
    pos_++;
    attribute_changes_layout_ = layout;
    return true;
}

// Reports what cannot be among the members.
void Parser::missing_record_end(const Record *record, uint32_t token, const std::string &what)
{
    diag_.error(tokens_[token].range(),
                "expected '}' and ';' of " +
                    (record->tag ? "'" + record->spelled + "'" : "the struct or union") +
                    " before " + what);
}

// Returns whether a declaration begins that is none of a member, and stands where those of the file
// stand, at the beginning of a line.
bool Parser::at_other_declaration() const
{
    const uint32_t offset = peek().offset;
    return (is(Tok::KwStatic) || is(Tok::KwExtern) || is(Tok::KwTypedef) || is(Tok::KwInline)) &&
           offset > 0 && text_[offset - 1] == '\n';
}

// member = specifiers [member-declarator {"," member-declarator}] ";"
// The last one may do without the semicolon (GNU C).  Returns null if a function came in its place.
Declaration *Parser::member_declaration(Record *record)
{
    Declaration *d = ast_.declaration();
    d->role = DeclarationRole::Member;
    d->first = pos_;
    take_as_type(Among::Declarations);
    specifiers(d->specifiers, false);
    if (is(Tok::Semi)) {
        if (d->specifiers.type->kind == TypeKind::Record)
            record->members.push_back({nullptr, d->specifiers.type, false, {}, 0});
    } else {
        do
            member_declarator(d, record);
        while (accept(Tok::Comma));
    }
    if (is(Tok::LBrace) && !d->declarators.empty() && d->declarators.back().declarator.name &&
        d->declarators.back().type->kind == TypeKind::Function) {
        const Declarator &function = d->declarators.back().declarator;
        missing_record_end(record, function.name_token,
                           "the function '" + std::string(function.name->text) + "'");
        take_as_declared(d->first);
        skip_balanced();
        return nullptr;
    }
    if (!is(Tok::RBrace))
        semicolon("';' after the member");
    d->last = pos_;
    d->touched |= d->specifiers.touched;
    return d;
}

// member-declarator = declarator [":" constant] | ":" constant
void Parser::member_declarator(Declaration *declaration, Record *record)
{
    attribute_changes_type_ = false;
    attributes();
    InitDeclarator d;
    d.declarator.first = pos_;
    if (!is(Tok::Colon))
        declarator(d.declarator, Abstract::No, false);
    else
        d.declarator.last = pos_;
    d.type = derive(declaration->specifiers.type, d.declarator);
    if (d.type->kind == TypeKind::SpreadArray)
        fail(tokens_[d.declarator.first].range(),
             "a spread array cannot be a member; keep a spread pointer there");
    for (const Extent *extent : own_dimensions(d.declarator))
        if (scopes_.at_file_scope())
            sema_.check_constant(extent->size, "the size of a member has to be constant");
    if (accept(Tok::Colon))
        d.bit_width = constant();
    after_declarator(d);
    declaration->touched |=
        touched_declarator(d.declarator) || (d.bit_width && d.bit_width->touched);
    record->members.push_back(
        {d.declarator.name, d.type, d.bit_width != nullptr, {}, d.declarator.name_token});
    declaration->declarators.push_back(std::move(d));
}

// enum = "enum" attributes (name | [name] "{" enumerator {"," enumerator} [","] "}")
const Type *Parser::enum_specifier(Specifiers &s)
{
    pos_++;
    attributes();
    Name *name = is(Tok::Ident) ? peek().name : nullptr;
    uint32_t name_token = pos_;
    if (name)
        pos_++;
    bool defining = is(Tok::LBrace);
    if (!name && !defining)
        unexpected("the tag of an enum, or '{'");
    Symbol *symbol = tag(name, defining);
    if (symbol->record) {
        wrong_tag(name_token, symbol, "is the tag of a struct or union");
        throw SyntaxError();
    }
    if (!symbol->enumeration) {
        symbol->enumeration = types_.new_enumeration();
        symbol->enumeration->tag = name;
        if (name)
            symbol->enumeration->spelled = "enum " + std::string(name->text);
        symbol->type = types_.enumeration(symbol->enumeration);
    }
    if (defining) {
        s.enum_body = true;
        enumerators(s, symbol->enumeration);
        attributes();
        attribute_changes_type_ = false;
    }
    return symbol->type;
}

void Parser::enumerators(Specifiers &s, Enumeration *enumeration)
{
    expect(Tok::LBrace, "'{'");
    std::optional<int64_t> next = 0;
    while (!is(Tok::RBrace)) {
        Symbol *symbol = ast_.symbol();
        symbol->kind = SymbolKind::Constant;
        symbol->token = pos_;
        symbol->name = peek().name;
        expect(Tok::Ident, "the name of an enumeration constant");
        attributes();
        if (accept(Tok::Assign)) {
            Expr *value = constant();
            s.enumerators.push_back(value);
            s.touched |= value->touched;
            next = value->value;
        }
        symbol->value = next;
        symbol->type = next && (*next < INT32_MIN || *next > INT32_MAX)
                           ? types_.basic(TypeKind::Long)
                           : types_.basic(TypeKind::Int);
        enumeration->negative |= next && *next < 0;
        if (next)
            next = static_cast<int64_t>(static_cast<uint64_t>(*next) + 1);
        const Symbol *old = symbol->name->ordinary;
        if (is_of_system(old) && scopes_.at_file_scope() && !stands_in_system(symbol))
            forget_of_system(old);
        else if (old && scopes_.is_local(old))
            sema_.check_redeclaration(old, symbol);
        scopes_.declare(symbol);
        if (!accept(Tok::Comma))
            break;
    }
    expect(Tok::RBrace, "'}' after the enumeration constants");
    enumeration->complete = true;
}

} // namespace splitcc
