// SPDX-License-Identifier: BSD-3-Clause
//
// Specifiers: basic types, structs, unions, enumerations, attributes.
#include "parse/parse.h"

#include "parse/words.h"

namespace splitcc {

bool Parser::starts_declaration(uint32_t ahead) const
{
    switch (peek(ahead).kind) {
    case Tok::KwAuto:
    case Tok::KwExtern:
    case Tok::KwInline:
    case Tok::KwNoreturn:
    case Tok::KwRegister:
    case Tok::KwStatic:
    case Tok::KwTypedef:
    case Tok::KwThreadLocal:
    case Tok::KwAutoType:
        return true;
    default:
        return starts_type(ahead);
    }
}

bool Parser::starts_type(uint32_t ahead) const
{
    const Token token = peek(ahead);
    switch (token.kind) {
    case Tok::Ident:
        return token.name->ordinary && token.name->ordinary->kind == SymbolKind::Typedef;
    case Tok::KwChar:
    case Tok::KwConst:
    case Tok::KwDouble:
    case Tok::KwEnum:
    case Tok::KwFloat:
    case Tok::KwInt:
    case Tok::KwLong:
    case Tok::KwRestrict:
    case Tok::KwShort:
    case Tok::KwSigned:
    case Tok::KwStruct:
    case Tok::KwUnion:
    case Tok::KwUnsigned:
    case Tok::KwVoid:
    case Tok::KwVolatile:
    case Tok::KwAlignas:
    case Tok::KwAtomic:
    case Tok::KwBool:
    case Tok::KwComplex:
    case Tok::KwTypeof:
    case Tok::KwInt128:
    case Tok::KwFloatN:
        return true;
    case Tok::KwAttribute: // before a type, not before a statement
        return attribute_before_type(ahead);
    case Tok::KwExtension:
        return starts_type(ahead + 1);
    default:
        return false;
    }
}

// The token behind the attributes that begin at `at`.
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

// Whether attributes stand in front of a declaration, or of a type in parentheses.
bool Parser::attribute_before_type(uint32_t ahead) const
{
    return starts_declaration(behind_attributes(pos_ + ahead) - pos_);
}

// specifiers = {storage-class | type-specifier | qualifier | function-specifier |
//               alignment | attribute}
void Parser::specifiers(Specifiers &s, bool allow_storage)
{
    s.first = pos_;
    TypeWords words;
    while (specifier(s, words, allow_storage)) {
    }
    s.last = pos_;
    s.type = finish_type(s, words);
}

bool Parser::storage_specifier(Specifiers &s)
{
    switch (peek().kind) {
    case Tok::KwTypedef:
        s.storage = Storage::Typedef;
        break;
    case Tok::KwExtern:
        s.storage = Storage::Extern;
        break;
    case Tok::KwStatic:
        s.storage = Storage::Static;
        break;
    case Tok::KwAuto:
        s.storage = Storage::Auto;
        break;
    case Tok::KwRegister:
        s.storage = Storage::Register;
        break;
    case Tok::KwInline:
        s.is_inline = true;
        break;
    case Tok::KwThreadLocal:
        s.thread_local_ = true;
        break;
    case Tok::KwNoreturn:
        break;
    default:
        return false;
    }
    s.not_type.push_back({pos_, pos_ + 1});
    pos_++;
    return true;
}

// Whether the declaration ends here, behind a struct, because another type begins.
bool Parser::ends_at_second_type(const TypeWords &words)
{
    Tok kind = peek().kind;
    bool second = kind == Tok::KwStruct || kind == Tok::KwUnion || kind == Tok::KwEnum ||
                  kind == Tok::KwTypeof ||
                  (words.named && kind != Tok::KwComplex && TypeWords::is_word(kind));
    if (!second || !words.any())
        return false;
    if (tokens_[pos_ - 1].kind != Tok::RBrace)
        fail(peek().range(),
             "'" + std::string(peek().name->text) + "' does not go with the words before it");
    semicolon("';' after the definition");
    return true;
}

bool Parser::specifier(Specifiers &s, TypeWords &words, bool allow_storage)
{
    uint32_t first = pos_;
    s.ended = s.ended || ends_at_second_type(words);
    if (s.ended)
        return false;
    if (allow_storage && storage_specifier(s))
        return true;
    switch (peek().kind) {
    case Tok::KwConst:
        words.quals |= kConst;
        break;
    case Tok::KwVolatile:
        words.quals |= kVolatile;
        break;
    case Tok::KwRestrict:
        break;
    case Tok::KwExtension:
        break;
    case Tok::KwAttribute:
        attributes();
        s.not_type.push_back({first, pos_});
        return true;
    case Tok::KwAlignas:
        pos_++;
        alignment();
        s.not_type.push_back({first, pos_});
        return true;
    case Tok::KwAtomic:
        pos_++;
        if (is(Tok::LParen)) {
            pos_++;
            words.named = type_name()->type;
            expect(Tok::RParen, "')'");
        }
        words.quals |= kAtomic;
        return true;
    case Tok::KwStruct:
    case Tok::KwUnion:
        words.named = record_specifier(s);
        return true;
    case Tok::KwEnum:
        words.named = enum_specifier(s);
        return true;
    case Tok::KwTypeof:
        typeof_specifier(s, words);
        return true;
    case Tok::KwAutoType:
        words.named = types_.unknown();
        break;
    case Tok::KwFloatN:
        words.named = types_.opaque(peek().name->text);
        break;
    case Tok::Ident: {
        Symbol *symbol = peek().name->ordinary;
        if (words.any() || !symbol || symbol->kind != SymbolKind::Typedef)
            return false;
        words.named = symbol->type;
        if (symbol->hides_type)
            symbol->uses.push_back(pos_);
        break;
    }
    default:
        if (!words.add(peek().kind)) {
            if (TypeWords::is_word(peek().kind))
                fail(peek().range(), "'" + std::string(peek().name->text) +
                                         "' does not go with the words before it");
            return false;
        }
    }
    pos_++;
    return true;
}

// The type that typeof of e names.  A parameter that is a spread array is a spread pointer.
const Type *Parser::typeof_value(const Expr *e)
{
    if (e->type->kind != TypeKind::SpreadArray)
        return e->type;
    const Expr *operand = strip(e);
    if (operand->kind == ExprKind::Ident && operand->symbol->parameter)
        return types_.decayed(e->type);
    diag_.error(sema_.range(e), "typeof of a spread array names no type; declare another array "
                                "with its dimensions");
    return types_.unknown();
}

// typeof = "typeof" "(" (expression | type-name) ")"
void Parser::typeof_specifier(Specifiers &s, TypeWords &words)
{
    pos_++;
    expect(Tok::LParen, "'(' after typeof");
    if (starts_type()) {
        TypeName *name = type_name();
        s.typeof_operand = name;
        words.named = name->type;
    } else {
        Expr *e = expression();
        s.typeof_operand = e;
        words.named = typeof_value(e);
    }
    s.touched |= s.typeof_operand->touched || mentions_far(words.named);
    expect(Tok::RParen, "')'");
}

const Type *Parser::finish_type(Specifiers &s, TypeWords &words)
{
    const Type *type = words.named;
    if (!type) {
        if (!words.any() && s.first == s.last && !is(Tok::Ident) && !is(Tok::Star) &&
            !is(Tok::LParen))
            unexpected("a declaration");
        auto kind = words.kind();
        if (!kind)
            fail(
                {tokens_[s.first].offset, tokens_[s.last - 1].end()},
                "'" +
                    std::string(text_.substr(tokens_[s.first].offset,
                                             tokens_[s.last - 1].end() - tokens_[s.first].offset)) +
                    "' is no type: these words do not go together");
        type = types_.basic(*kind);
        if (words.complex)
            type = types_.complex(*kind == TypeKind::Int ? types_.basic(TypeKind::Double) : type);
    }
    if (attribute_changes_type_) {
        attribute_changes_type_ = false;
        type = types_.opaque("__typeof__()");
    }
    return types_.qualified(type, words.quals);
}

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
        if (type->touched) // any far pointer's alignment
            ast_.in_attributes.push_back({type->first, type->last, "unsigned long"});
    } else if (const Expr *e = constant(); e->touched && e->value) {
        ast_.in_attributes.push_back({e->first, e->last, std::to_string(*e->value)});
    }
    expect(Tok::RParen, "')'");
}

// ---- struct, union, enum

// The symbol of a tag: the visible one, or a new one in this scope.
Symbol *Parser::tag(Name *name, bool defining)
{
    Symbol *symbol = name ? name->tag : nullptr;
    uint32_t token = pos_ > 0 ? pos_ - 1 : 0; // the name has been read
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
    return symbol;
}

void Parser::wrong_tag(uint32_t token, const Symbol *symbol, std::string_view what)
{
    diag_.error(tokens_[token].range(),
                "'" + std::string(symbol->name->text) + "' " + std::string(what));
    diag_.note(tokens_[symbol->token].range(), "it was declared here");
    throw SyntaxError();
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
    bool only_declared = is(Tok::Semi); // `struct s;` is a new s in this scope
    Symbol *symbol = tag(name, defining || only_declared);
    if (symbol->enumeration)
        wrong_tag(name_token, symbol, "is the tag of an enum");
    if (!symbol->record) {
        symbol->record = types_.new_record();
        symbol->record->is_union = is_union;
        symbol->record->tag = name;
        if (name)
            symbol->record->spelled = (is_union ? "union " : "struct ") + std::string(name->text);
        symbol->type = types_.record(symbol->record);
    }
    if (!defining)
        return symbol->type;
    if (symbol->record->complete)
        wrong_tag(name_token, symbol, "is defined twice");
    RecordBody *body = ast_.record_body();
    body->record = symbol->record;
    body->first = first;
    body->record->brace = pos_;
    s.body = body;
    member_declarations(body);
    body->last = pos_;
    attributes();
    symbol->record->packed = attribute_changes_layout_;
    attribute_changes_type_ = false;
    symbol->record->complete = true;
    lay_out(symbol->record);
    for (const Node *member : body->members)
        s.touched |= member->touched;
    return symbol->type;
}

void Parser::member_declarations(RecordBody *body)
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
        attribute_changes_layout_ = false;
        uint32_t before = pos_, scope = scopes_.depth();
        try {
            body->members.push_back(member_declaration(body->record));
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
}

// member = specifiers [member-declarator {"," member-declarator}] ";"
Declaration *Parser::member_declaration(Record *record)
{
    Declaration *d = ast_.declaration();
    d->role = DeclarationRole::Member;
    d->first = pos_;
    specifiers(d->specifiers, false);
    if (is(Tok::Semi)) {
        if (d->specifiers.type->kind == TypeKind::Record)
            record->members.push_back({nullptr, d->specifiers.type, false, {}});
    } else {
        do
            member_declarator(d, record);
        while (accept(Tok::Comma));
    }
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
    if (accept(Tok::Colon))
        d.bit_width = constant();
    after_declarator(d);
    declaration->touched |=
        touched_declarator(d.declarator) || (d.bit_width && d.bit_width->touched);
    record->members.push_back({d.declarator.name, d.type, d.bit_width != nullptr, {}});
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
    if (symbol->record)
        wrong_tag(name_token, symbol, "is the tag of a struct or union");
    if (!symbol->enumeration) {
        symbol->enumeration = types_.new_enumeration();
        symbol->enumeration->tag = name;
        if (name)
            symbol->enumeration->spelled = "enum " + std::string(name->text);
        symbol->type = types_.enumeration(symbol->enumeration);
    }
    if (defining) {
        s.enum_body = true;
        enumerators(s, symbol->enumeration, symbol->type);
        attributes();
        attribute_changes_type_ = false;
    }
    return symbol->type;
}

void Parser::enumerators(Specifiers &s, Enumeration *enumeration, const Type *type)
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
            next = Sema::fold(value);
        }
        symbol->value = next;
        symbol->type = next && (*next < INT32_MIN || *next > INT32_MAX)
                           ? types_.basic(TypeKind::Long)
                           : types_.basic(TypeKind::Int);
        enumeration->negative |= next && *next < 0;
        if (next)
            next = static_cast<int64_t>(static_cast<uint64_t>(*next) + 1);
        check_redeclaration(symbol->name->ordinary, symbol);
        scopes_.declare(symbol);
        if (!accept(Tok::Comma))
            break;
    }
    expect(Tok::RBrace, "'}' after the enumeration constants");
    enumeration->complete = true;
    (void)type;
}

} // namespace splitcc
