// SPDX-License-Identifier: BSD-3-Clause
//
// Specifiers: storage classes, basic types, typedef names and typeof.
#include "parse/parse.h"
#include "sema/index.h"

#include "parse/type_words.h"

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
    case Tok::KwAttribute: // it belongs to a type if a type follows, otherwise to a statement
        return attribute_before_type(ahead);
    case Tok::KwExtension:
        return starts_type(ahead + 1);
    default:
        return false;
    }
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
    if (s.type->is_far()) // an integer in C, which takes no `restrict`
        for (uint32_t at : words.restricts)
            ast_.replaced.push_back({at, at + 1, ""});
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
    case Tok::KwNoreturn:
        break;
    default:
        return false;
    }
    s.not_type.push_back({pos_, pos_ + 1});
    pos_++;
    return true;
}

// Returns whether the declaration ends here, because a struct was defined and another type begins.
// The missing semicolon is reported.
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
        words.restricts.push_back(pos_);
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
        symbol = typedef_for(symbol, pos_);
        words.named = symbol->type;
        if (symbol->hides_type)
            symbol->uses.push_back(pos_);
        if (ast_.index)
            ast_.index->name(pos_, symbol);
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
        words.named = sema_.typeof_value(e);
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
            fail(tokens_.range(s.first, s.last),
                 "'" + std::string(tokens_.spelling(s.first, s.last)) +
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

} // namespace splitcc