// SPDX-License-Identifier: BSD-3-Clause
//
// Declarations: specifiers, records, enumerations, initializers, definitions.
// Declarators are in parse_declarator.cc.
#include "parse.h"

#include <algorithm>

#include "words.h"

namespace splitcc {

Parser::Parser(const Source &source, const std::vector<Token> &tokens, Names &names, Types &types,
               Ast &ast, Diagnostics &diag)
    : text_(source.text()), tokens_(tokens), names_(names), types_(types), ast_(ast), diag_(diag),
      sema_(source.text(), tokens, ast, types, names, diag), global_(names.intern("global")),
      spread_(names.intern("spread"))
{
}

// ---- tokens

const Token &Parser::peek(uint32_t ahead) const
{
    size_t at = pos_ + static_cast<size_t>(ahead);
    return at < tokens_.size() ? tokens_[at] : tokens_.back();
}

bool Parser::accept(Tok kind)
{
    if (!is(kind))
        return false;
    pos_++;
    return true;
}

bool Parser::touching(uint32_t ahead) const
{
    return pos_ + ahead > 0 && peek(ahead).offset == tokens_[pos_ + ahead - 1].end();
}

bool Parser::is_pair(Tok second) const
{
    return is(Tok::Colon) && peek(1).kind == second && touching(1);
}

void Parser::fail(Range where, std::string_view message)
{
    diag_.error(where, message);
    throw SyntaxError();
}

void Parser::unexpected(std::string_view wanted)
{
    const Token &token = peek();
    std::string message = "expected " + std::string(wanted) + " before ";
    if (token.kind == Tok::End)
        fail(range_before(), message + "the end of the file");
    message += "'" + std::string(text_.substr(token.offset, std::min(token.length, 40u))) + "'";
    // What should have come after something is missed there, not at the next word.
    bool after = wanted.find("after") != std::string_view::npos && pos_ > 0;
    uint32_t end = after ? tokens_[pos_ - 1].end() : 0;
    fail(after ? Range{end - 1, end} : token.range(), message);
}

Range Parser::range_before() const
{
    return tokens_[pos_ > 0 ? pos_ - 1 : 0].range();
}

void Parser::expect(Tok kind, const char *what)
{
    if (!accept(kind))
        unexpected(what);
}

// After a syntax error: to the end of the statement that began at `from`, or before
// the brace that ends its block.  The semicolons in the head of a `for` end nothing.
void Parser::recover(uint32_t from)
{
    bool head = tokens_[from].kind == Tok::KwFor;
    int parens = 0, braces = 0;
    for (uint32_t i = from; head && i < pos_; i++)
        parens += (tokens_[i].kind == Tok::LParen) - (tokens_[i].kind == Tok::RParen);
    for (; !is(Tok::End); pos_++) {
        parens += is(Tok::LParen) - is(Tok::RParen);
        head &= parens > 0 && !is(Tok::LBrace);
        if (is(Tok::LBrace))
            braces++;
        if (is(Tok::RBrace) && braces-- == 0)
            return;
        if ((is(Tok::Semi) || is(Tok::RBrace)) && braces == 0 && !head) {
            pos_++;
            return;
        }
    }
}

// Over a bracketed group, whatever is in it.
void Parser::skip_balanced()
{
    const Token &open = peek();
    int depth = 0;
    do {
        if (is(Tok::End)) {
            diag_.error(open.range(), "this bracket is never closed");
            throw SyntaxError();
        }
        if (is(Tok::LParen) || is(Tok::LBracket) || is(Tok::LBrace))
            depth++;
        if (is(Tok::RParen) || is(Tok::RBracket) || is(Tok::RBrace))
            depth--;
        pos_++;
    } while (depth > 0);
}

// ---- external declarations

void Parser::builtin_typedefs()
{
    auto add = [&](std::string_view name, const Type *type) {
        Symbol *symbol = ast_.symbol();
        symbol->kind = SymbolKind::Typedef;
        symbol->name = names_.intern(name);
        symbol->type = type;
        symbol->file_scope = true;
        scopes_.declare(symbol);
    };
    add("__builtin_va_list", types_.opaque("__builtin_va_list"));
    add("__int128_t", types_.basic(TypeKind::Int128));
    add("__uint128_t", types_.basic(TypeKind::UInt128));
}

// translation-unit = {external-declaration}
void Parser::translation_unit()
{
    builtin_typedefs();
    while (!is(Tok::End) && !diag_.too_many()) {
        uint32_t before = pos_;
        try {
            external_declaration();
        } catch (const SyntaxError &) {
            colon_ends_ = false;
            function_ = nullptr;
            scopes_.leave_to(0);
            if (pos_ == before)
                pos_++;
            recover(before);
            if (is(Tok::RBrace))
                pos_++;
        }
    }
}

// external-declaration = function-definition | declaration | asm ";" | ";"
void Parser::external_declaration()
{
    while (accept(Tok::KwExtension) || accept(Tok::Semi)) {
    }
    if (is(Tok::End))
        return;
    if (is(Tok::KwAsm)) {
        pos_++;
        skip_balanced();
        accept(Tok::Semi);
        return;
    }
    if (is(Tok::KwStaticAssert))
        return static_assertion();
    Declaration *d = declaration();
    ast_.unit.push_back(d);
}

void Parser::static_assertion()
{
    pos_++;
    skip_balanced();
    expect(Tok::Semi, "';' after the assertion");
}

// declaration = specifiers [init-declarator {"," init-declarator}] ";"
// and, at file scope, function-definition = specifiers declarator {declaration} compound
Declaration *Parser::declaration()
{
    Depth depth(*this);
    Declaration *d = ast_.declaration();
    d->first = pos_;
    d->file_scope = scopes_.at_file_scope();
    specifiers(d->specifiers, true);
    if (!is(Tok::Semi))
        init_declarators(d);
    if (!d->body)
        expect(Tok::Semi, d->declarators.empty() ? "a name or ';'" : "';' after the declaration");
    d->last = pos_;
    d->touched |= d->specifiers.touched;
    return d;
}

void Parser::init_declarators(Declaration *d)
{
    do {
        init_declarator(d);
        if (d->body)
            return;
    } while (accept(Tok::Comma));
}

void Parser::init_declarator(Declaration *declaration)
{
    if (!declaration->declarators.empty())
        attributes(nullptr);
    attribute_changes_type_ = false;
    InitDeclarator d;
    d.declarator.first = pos_;
    declarator(d.declarator, Abstract::No, false);
    d.type = derive(declaration->specifiers.type, d.declarator);
    after_declarator(d);

    bool is_function = d.type->kind == TypeKind::Function;
    bool definition = is_function && declaration->declarators.empty() &&
                      (is(Tok::LBrace) || (!is(Tok::Assign) && !is(Tok::Comma) && !is(Tok::Semi) &&
                                           starts_declaration()));
    if (definition && !scopes_.at_file_scope())
        fail(tokens_[d.declarator.first].range(),
             "a function inside a function is not supported; move it to file scope");
    d.symbol = declare(d, declaration->specifiers, DeclarationRole::Object);
    declaration->touched |= touched_declarator(d.declarator);
    if (definition) {
        declaration->declarators.push_back(std::move(d));
        return function_body(declaration);
    }
    if (accept(Tok::Assign)) {
        const Type *type = d.type;
        if (type->kind == TypeKind::SpreadArray) {
            diag_.error(range_before(),
                        "a spread array cannot be initialized; assign its elements");
            type = types_.unknown();
        }
        d.init = sema_.initializer(initializer(), type,
                                   declaration->file_scope ||
                                       declaration->specifiers.storage == Storage::Static);
        declaration->touched |= d.init->touched;
        if (type->kind == TypeKind::Unknown && d.init->node == NodeKind::Expr) // __auto_type
            d.symbol->type = sema_.value_type(static_cast<Expr *>(d.init));
    }
    declaration->declarators.push_back(std::move(d));
}

// The asm label and attributes that follow a declarator.
void Parser::after_declarator(InitDeclarator &d)
{
    d.after_first = pos_;
    while (is(Tok::KwAsm) || is(Tok::KwAttribute)) {
        if (is(Tok::KwAsm)) {
            pos_++;
            skip_balanced();
        } else {
            attributes(nullptr);
        }
    }
    d.after_last = pos_;
    if (attribute_changes_type_) {
        std::string spelled(d.declarator.name ? d.declarator.name->text : "");
        d.type = types_.opaque("__typeof__(" + spelled + ")");
        attribute_changes_type_ = false;
    }
}

void Parser::function_body(Declaration *declaration)
{
    InitDeclarator &d = declaration->declarators[0];
    Part &function = d.declarator.parts.front();
    d.symbol->defined = true;
    scopes_.enter();
    for (Symbol *param : function.param_symbols)
        if (param->name)
            scopes_.declare(param);
    if (!is(Tok::LBrace))
        old_style_parameters(declaration);
    for (Symbol *param : function.param_symbols)
        if (!param->type)
            param->type = types_.basic(TypeKind::Int);
    function_ = declaration;
    result_ = d.type->base;
    declaration->body = compound(&d.declarator);
    declaration->body->result = result_;
    // It gets a companion; and its parameters' run-time sizes are captured in it.
    if (d.symbol->name && d.symbol->name->text == "splitc_main")
        declaration->body->touched = true;
    for (const Symbol *param : function.param_symbols)
        declaration->body->touched |= mentions_far(param->type);
    declaration->touched |= declaration->body->touched;
    function_ = nullptr;
    scopes_.leave();
}

// The declarations between the declarator and the body of a K&R definition.
void Parser::old_style_parameters(Declaration *declaration)
{
    Part &function = declaration->declarators[0].declarator.parts.front();
    while (!is(Tok::LBrace)) {
        Declaration *d = ast_.declaration();
        d->first = pos_;
        d->role = DeclarationRole::Parameter;
        specifiers(d->specifiers, true);
        do {
            InitDeclarator item;
            item.declarator.first = pos_;
            declarator(item.declarator, Abstract::No, true);
            item.type = adjusted(derive(d->specifiers.type, item.declarator));
            after_declarator(item);
            d->touched |= touched_declarator(item.declarator);
            bool found = false;
            for (Symbol *param : function.param_symbols)
                if (param->name == item.declarator.name) {
                    param->type = item.type;
                    param->storage = d->specifiers.storage;
                    item.symbol = param;
                    found = true;
                }
            if (!found)
                diag_.error(tokens_[item.declarator.name_token].range(),
                            "'" + std::string(item.declarator.name->text) +
                                "' is not in the parameter list");
            d->declarators.push_back(std::move(item));
        } while (accept(Tok::Comma));
        expect(Tok::Semi, "';' after the parameter's declaration");
        d->last = pos_;
        d->touched |= d->specifiers.touched;
        declaration->touched |= d->touched;
        declaration->old_style.push_back(d);
    }
}

void Parser::check_redeclaration(const Symbol *old, const Symbol *fresh)
{
    if (!old || !scopes_.is_local(old) || old->kind == SymbolKind::Builtin)
        return;
    bool far = old->type && fresh->type && (mentions_far(old->type) || mentions_far(fresh->type));
    if (old->kind != fresh->kind) {
        diag_.error(tokens_[fresh->token].range(),
                    "'" + std::string(fresh->name->text) + "' is declared again as something else");
        diag_.note(tokens_[old->token].range(), "it was declared here");
    } else if (far && !same_type(old->type, fresh->type)) {
        diag_.error(tokens_[fresh->token].range(), "'" + std::string(fresh->name->text) +
                                                       "' is declared again with another type, '" +
                                                       describe(fresh->type) + "'");
        diag_.note(tokens_[old->token].range(),
                   "it was declared here as '" + describe(old->type) + "'");
    }
}

Symbol *Parser::declare(InitDeclarator &d, const Specifiers &s, DeclarationRole role)
{
    Symbol *symbol = ast_.symbol();
    symbol->kind = s.storage == Storage::Typedef        ? SymbolKind::Typedef
                   : d.type->kind == TypeKind::Function ? SymbolKind::Function
                                                        : SymbolKind::Object;
    symbol->storage = s.storage;
    symbol->file_scope = scopes_.at_file_scope();
    symbol->parameter = role == DeclarationRole::Parameter;
    symbol->name = d.declarator.name;
    symbol->type = d.type;
    symbol->token = d.declarator.name_token;
    if (!symbol->name)
        return symbol;
    if (symbol->kind == SymbolKind::Typedef) {
        if (d.type->kind == TypeKind::SpreadArray)
            fail(tokens_[symbol->token].range(),
                 "a spread array cannot be a typedef; declare the array itself");
        // The typedef is how emitted code can name what has no tag, or has a
        // size known only here.
        if (d.type->kind == TypeKind::Record && d.type->record->spelled.empty())
            d.type->record->spelled = symbol->name->text;
        if (d.type->kind == TypeKind::Enum && d.type->enumeration->spelled.empty())
            d.type->enumeration->spelled = symbol->name->text;
        if (variably_sized(d.type))
            d.type->captured = symbol->name->text;
        if (d.type->kind == TypeKind::Opaque && d.type->spelled.starts_with("__typeof__"))
            symbol->type = d.type = types_.opaque(symbol->name->text);
    }
    Symbol *old = symbol->name->ordinary;
    check_redeclaration(old, symbol);
    // A redeclaration that says less keeps what is known.
    if (old && scopes_.is_local(old) && old->kind == symbol->kind && old->type) {
        bool less = (symbol->type->kind == TypeKind::Array && !symbol->type->extent.size) ||
                    (symbol->type->kind == TypeKind::Function && !symbol->type->prototype);
        if (less && same_type(old->type, symbol->type))
            symbol->type = old->type;
    }
    scopes_.declare(symbol);
    return symbol;
}

// ---- specifiers

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
    const Token &token = peek(ahead);
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
        return ahead == 0 && attribute_before_type();
    case Tok::KwExtension:
        return starts_type(ahead + 1);
    default:
        return false;
    }
}

// Whether the attributes here stand in front of a declaration.
bool Parser::attribute_before_type() const
{
    uint32_t at = pos_;
    while (tokens_[at].kind == Tok::KwAttribute) {
        at++;
        int depth = 0;
        do {
            Tok kind = tokens_[at].kind;
            if (kind == Tok::End)
                return false;
            depth += kind == Tok::LParen ? 1 : kind == Tok::RParen ? -1 : 0;
            at++;
        } while (depth > 0);
    }
    return starts_declaration(at - pos_);
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

bool Parser::specifier(Specifiers &s, TypeWords &words, bool allow_storage)
{
    uint32_t first = pos_;
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
        attributes(&s);
        s.not_type.push_back({first, pos_});
        return true;
    case Tok::KwAlignas:
        pos_++;
        skip_balanced();
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
        words.named = e->type;
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

// attributes = {"__attribute__" "((" ... "))"}; notes those that change what splitcc
// has to know
void Parser::attributes(Specifiers *s)
{
    while (attribute(s)) {
    }
}

bool Parser::attribute(Specifiers *)
{
    if (!is(Tok::KwAttribute))
        return false;
    pos_++;
    uint32_t first = pos_;
    skip_balanced();
    for (uint32_t i = first; i < pos_; i++) {
        if (!tokens_[i].name)
            continue;
        std::string_view name = tokens_[i].name->text;
        if (name.starts_with("__") && name.ends_with("__") && name.size() > 4)
            name = name.substr(2, name.size() - 4);
        if (name == "vector_size" || name == "mode")
            attribute_changes_type_ = true;
        if (name == "packed" || name == "aligned" || name == "ms_struct" ||
            name == "scalar_storage_order")
            attribute_changes_layout_ = true;
    }
    return true;
}

// ---- struct, union, enum

// The symbol of a tag: the visible one, or a new one in this scope.
Symbol *Parser::tag(Name *name, bool defining)
{
    Symbol *symbol = name ? name->tag : nullptr;
    if (symbol && (!defining || scopes_.is_local(symbol)))
        return symbol;
    symbol = ast_.symbol();
    symbol->kind = SymbolKind::Tag;
    symbol->name = name;
    symbol->token = pos_ > 0 ? pos_ - 1 : 0; // the name has been read
    if (name)
        scopes_.declare(symbol);
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
    attributes(nullptr);
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
    attributes(nullptr);
    symbol->record->packed = attribute_changes_layout_;
    attribute_changes_type_ = false;
    symbol->record->complete = true;
    lay_out(symbol->record);
    for (Declaration *member : body->members)
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
            static_assertion();
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
    expect(Tok::Semi, "';' after the member");
    d->last = pos_;
    d->touched |= d->specifiers.touched;
    return d;
}

// member-declarator = declarator [":" constant] | ":" constant
void Parser::member_declarator(Declaration *declaration, Record *record)
{
    attribute_changes_type_ = false;
    attributes(nullptr);
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
    declaration->touched |= touched_declarator(d.declarator);
    record->members.push_back({d.declarator.name, d.type, d.bit_width != nullptr, {}});
    declaration->declarators.push_back(std::move(d));
}

// enum = "enum" attributes (name | [name] "{" enumerator {"," enumerator} [","] "}")
const Type *Parser::enum_specifier(Specifiers &s)
{
    pos_++;
    attributes(nullptr);
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
        attributes(nullptr);
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
        attributes(nullptr);
        if (accept(Tok::Assign)) {
            Expr *value = constant();
            s.inner.push_back(value);
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

// ---- initializers

// initializer = assignment | "{" ... "}"
Node *Parser::initializer()
{
    if (is(Tok::LBrace))
        return initializer_list();
    return assignment();
}

// initializer-list = "{" [[designation] initializer {"," [designation] initializer}] [","] "}"
InitList *Parser::initializer_list()
{
    Depth depth(*this);
    InitList *list = ast_.init_list();
    list->first = pos_;
    bool colon = colon_ends_;
    colon_ends_ = true; // name: value
    expect(Tok::LBrace, "'{'");
    while (!is(Tok::RBrace)) {
        designation(list);
        list->items.push_back(initializer());
        if (!accept(Tok::Comma))
            break;
    }
    colon_ends_ = colon;
    expect(Tok::RBrace, "'}' after the initializers");
    list->last = pos_;
    return list;
}

// designation = {"." name | "[" constant ["..." constant] "]"} "=" | name ":"
void Parser::designation(InitList *list)
{
    InitList::Designation d;
    d.item = static_cast<uint32_t>(list->items.size());
    if (is(Tok::Ident) && peek(1).kind == Tok::Colon) {
        d.path.push_back({peek().name, nullptr});
        pos_ += 2;
    }
    bool any = false;
    while (is(Tok::Dot) || is(Tok::LBracket)) {
        any = true;
        if (accept(Tok::Dot)) {
            d.path.push_back({peek().name, nullptr});
            expect(Tok::Ident, "the name of a member");
            continue;
        }
        pos_++;
        Expr *index = constant();
        d.path.push_back({nullptr, index});
        if (accept(Tok::Ellipsis))
            constant();
        expect(Tok::RBracket, "']'");
    }
    if (any && !accept(Tok::Assign) && d.path.back().first)
        unexpected("'=' after the designator"); // [i] value is old GNU C
    if (!d.path.empty())
        list->designations.push_back(std::move(d));
}

} // namespace splitcc
