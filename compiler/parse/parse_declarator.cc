// SPDX-License-Identifier: BSD-3-Clause
//
// Declarators: pointers with their address space, arrays, spread arrays and functions; and the
// types that they derive.
#include "parse/parse.h"

#include "source/similar.h"

namespace splitcc {

// declarator = {pointer} direct-declarator
void Parser::declarator(Declarator &d, Abstract abstract, bool parameter)
{
    Depth depth(*this);
    uint32_t first = pos_;
    attributes();
    std::vector<Part> pointers;
    while (is(Tok::Star) || is(Tok::Caret))
        pointer_part(d, pointers, abstract, parameter);
    direct_declarator(d, abstract, parameter);
    // Derivation is read from the name outward, so the last star comes first.
    d.parts.insert(d.parts.end(), pointers.rbegin(), pointers.rend());
    d.first = first;
    d.last = pos_;
}

// pointer = "*" {"const" | "volatile" | "restrict" | "global" | "spread" | attribute}
void Parser::pointer_part(Declarator &d, std::vector<Part> &pointers, Abstract abstract,
                          bool parameter)
{
    Part part;
    part.first = ++pos_;
    for (;;) {
        if (is_space_qualifier(abstract, parameter)) {
            Tok next = peek(1).kind;
            if (part.space != Space::Local && abstract != Abstract::Yes && next != Tok::Ident &&
                next != Tok::Star)
                break; // the second word is the name that is declared
            if (part.space != Space::Local)
                fail(peek().range(), "a pointer is either global or spread, and only once");
            part.space = is_name(global_) ? Space::Global : Space::Spread;
            pos_++;
            d.far = true;
        } else if (is(Tok::KwConst)) {
            part.quals |= kConst;
            pos_++;
        } else if (is(Tok::KwVolatile)) {
            part.quals |= kVolatile;
            pos_++;
        } else if (is(Tok::KwRestrict) || is(Tok::KwAtomic)) {
            part.quals |= is(Tok::KwRestrict) ? kRestrict : kAtomic;
            pos_++;
        } else if (is(Tok::KwAttribute)) {
            attributes();
        } else {
            break;
        }
    }
    part.last = pos_;
    pointers.push_back(std::move(part));
}

// Returns whether the word qualifies the pointer.  `global` and `spread` are ordinary names unless
// they stand behind a star.  Where a declarator needs a name and has no other one, they are that
// name: `int *global;` and `char *spread[10];`.  A parameter of a prototype needs no name, so they
// qualify the pointer in `void f(int *global, int *global [])`, except in a system header.
bool Parser::is_space_qualifier(Abstract abstract, bool parameter) const
{
    if (!is_space_word())
        return false;
    if (abstract == Abstract::Yes)
        return true;
    const Tok next = peek(1).kind;
    const bool nameless = parameter && !named_parameters_ &&
                          (next == Tok::RParen || next == Tok::Comma || next == Tok::LBracket);
    if (nameless && !source_.position(peek().offset).system)
        return true;
    return !may_follow_name(1);
}

// Returns whether the tokens can follow the name of a declarator, and not a qualifier.
bool Parser::may_follow_name(uint32_t ahead) const
{
    ahead = behind_attributes(pos_ + ahead) - pos_;
    switch (peek(ahead).kind) {
    case Tok::Semi:
    case Tok::Assign:
    case Tok::Comma:
    case Tok::Colon:
    case Tok::LBracket:
    case Tok::RParen:
    case Tok::KwAsm:
    case Tok::End:
        return true;
    case Tok::LParen: // either parameters, or a declarator in parentheses
        return peek(ahead + 1).kind == Tok::RParen || starts_type(ahead + 1) ||
               names_follow(ahead + 1);
    default:
        return false;
    }
}

// Returns whether the names of a K&R definition's parameters follow.
bool Parser::names_follow(uint32_t ahead) const
{
    if (peek(ahead).kind != Tok::Ident)
        return false;
    const bool only = peek(ahead + 1).kind == Tok::RParen;
    return only ? peek(ahead + 2).kind == Tok::LBrace || starts_declaration(ahead + 2)
                : peek(ahead + 1).kind == Tok::Comma;
}

// Reports a word before the name of a declarator: `global` in the wrong place, or misspelled.
void Parser::check_word_before_name()
{
    const Token token = tokens_[pos_ - 1];
    if (!token.name) // an attribute is between
        return;
    std::string word(token.name->text);
    if (token.name == global_ || token.name == spread_)
        fail(token.range(), "'" + word +
                                "' qualifies a pointer: write it after a '*', as in 'int *" + word +
                                " p'");
    bool after_star = pos_ > 1 && tokens_[pos_ - 2].kind == Tok::Star;
    for (const Name *meant : {global_, spread_}) {
        if (!are_similar(word, meant->text))
            continue;
        std::string right(meant->text);
        if (after_star && is(Tok::Ident)) {
            diag_
                .error(token.range(),
                       "'" + word + "' is unknown here; did you mean '" + right + "'?")
                .replace(token.range(), right);
            throw SyntaxError();
        }
        if (!after_star && is(Tok::Star))
            fail(token.range(), "'" + word + "' is unknown here; did you mean '" + right +
                                    "'? It is written after the '*', as in 'int *" + right + " p'");
    }
}

// direct-declarator = [name | "(" declarator ")"] {"[" ... "]" | "(" parameters ")" | "::"}
void Parser::direct_declarator(Declarator &d, Abstract abstract, bool parameter)
{
    if (is(Tok::LParen) && nested_declarator(abstract)) {
        pos_++;
        attributes();
        declarator(d, abstract, parameter);
        expect(Tok::RParen, "')'");
    } else if (is(Tok::Ident) && abstract != Abstract::Yes) {
        d.name_token = pos_;
        d.name = peek().name;
        pos_++;
        if (is(Tok::KwAttribute) && peek(1).kind == Tok::LBracket)
            attributes();
        if (is(Tok::Ident) || is(Tok::Star) || starts_type())
            check_word_before_name();
    } else if (abstract == Abstract::No) {
        unexpected("a name");
    }
    declarator_suffixes(d);
}

// Returns whether "(" begins a declarator in parentheses, and not a parameter list.
bool Parser::nested_declarator(Abstract abstract) const
{
    if (abstract == Abstract::No)
        return true;
    switch (peek(1).kind) {
    case Tok::Star:
    case Tok::LParen:
    case Tok::LBracket:
        return true;
    case Tok::KwAttribute:
        return !attribute_before_type(1);
    case Tok::Ident:
        return abstract == Abstract::Maybe && !starts_type(1);
    default:
        return false;
    }
}

// Returns whether the token can follow the '::' of a spread array's declarator.
static bool is_end_of_spread_array(Tok next)
{
    return next == Tok::LBracket || next == Tok::Semi || next == Tok::Comma ||
           next == Tok::Assign || next == Tok::RParen;
}

void Parser::declarator_suffixes(Declarator &d)
{
    size_t arrays = 0; // the number of array suffixes directly before this point
    for (;;) {
        if (is(Tok::LBracket)) {
            Part part;
            part.kind = Part::Array;
            part.first = pos_;
            part.extents.push_back(array_suffix());
            part.last = pos_;
            d.touched |= part.extents[0].size && part.extents[0].size->touched;
            d.parts.push_back(std::move(part));
            arrays++;
        } else if (arrays > 0 && is(Tok::Colon) && is_end_of_spread_array(peek(1).kind)) {
            fail(peek().range(), peek(1).kind == Tok::LBracket
                                     ? "a spread array has two colons, as in 'int A[n]::[m]'"
                                     : "a spread array has two colons, as in 'int A[n]::'");
        } else if (is_pair(Tok::Colon)) {
            if (arrays == 0)
                fail(peek().range(), "'::' needs a dimension to its left, as in 'int A[n]::'");
            Part spread;
            spread.kind = Part::Spread;
            for (auto part = d.parts.end() - static_cast<std::ptrdiff_t>(arrays);
                 part != d.parts.end(); ++part)
                spread.extents.push_back(part->extents[0]);
            d.parts.resize(d.parts.size() - arrays);
            spread.first = pos_;
            pos_ += 2;
            spread.last = pos_;
            d.parts.push_back(std::move(spread));
            d.far = true;
            arrays = 0;
        } else if (is(Tok::LParen)) {
            Part part;
            part.kind = Part::Function;
            part.first = pos_;
            function_suffix(part, d.parts.empty());
            part.last = pos_;
            for (Declaration *param : part.params)
                d.touched |= param->touched;
            d.parts.push_back(std::move(part));
            arrays = 0;
        } else {
            return;
        }
    }
}

// array = "[" ["static"] qualifiers [assignment | "*"] "]"
Extent Parser::array_suffix()
{
    Extent extent;
    pos_++;
    while (is(Tok::KwStatic) || is(Tok::KwConst) || is(Tok::KwVolatile) || is(Tok::KwRestrict))
        pos_++;
    if (is(Tok::Star) && peek(1).kind == Tok::RBracket)
        pos_++;
    if (!is(Tok::RBracket)) {
        bool colon = colon_ends_;
        colon_ends_ = false;
        extent.size = sema_.integer_value(assignment(), "the size of an array");
        colon_ends_ = colon;
        extent.value = extent.size->value;
        if (extent.value.value_or(-1) < 0)
            ast_.keep(); // types of this size refer to the expression
    }
    expect(Tok::RBracket, "']'");
    return extent;
}

// Returns whether a function's body follows the parameter list that begins here.
bool Parser::before_body() const
{
    int depth = 0;
    for (uint32_t at = pos_; tokens_[at].kind != Tok::End; at++) {
        depth += (tokens_[at].kind == Tok::LParen) - (tokens_[at].kind == Tok::RParen);
        if (depth == 0)
            return tokens_[at + 1].kind == Tok::LBrace;
    }
    return false;
}

// function = "(" [parameters ["," "..."] | name {"," name}] ")"
// `first` is what the name is; what follows it, as in `int (*f(int a))(int *global)`, is what f
// returns.
void Parser::function_suffix(Part &part, bool first)
{
    Depth depth(*this);
    bool outer = named_parameters_;
    named_parameters_ = first && scopes_.at_file_scope() && before_body();
    pos_++;
    scopes_.enter();
    if (!misses_comma())
        take_as_type(Among::Declarations);
    if (is(Tok::Ident) && !starts_type())
        identifier_list(part);
    else if (!is(Tok::RParen))
        parameter_list(part);
    else
        part.prototype = false;
    expect(Tok::RParen, "')' after the parameters");
    scopes_.leave();
    named_parameters_ = outer;
}

// parameters = {parameter {"," parameter} ";"} parameter {"," parameter}; those that end
// with a semicolon are declared for the sizes of the others (GNU C).
void Parser::parameter_list(Part &part)
{
    part.prototype = true;
    if (is(Tok::KwVoid) && peek(1).kind == Tok::RParen) {
        pos_++;
        return;
    }
    do {
        do {
            if (accept(Tok::Ellipsis)) {
                part.variadic = true;
                return;
            }
            parameter(part);
        } while (accept(Tok::Comma));
        if (is(Tok::Semi))
            part.param_symbols.clear();
    } while (accept(Tok::Semi));
}

void Parser::parameter(Part &part)
{
    Declaration *d = ast_.declaration();
    d->role = DeclarationRole::Parameter;
    d->first = pos_;
    take_as_type(Among::Declarations);
    specifiers(d->specifiers, true);
    InitDeclarator item;
    item.declarator.first = pos_;
    declarator(item.declarator, Abstract::Maybe, true);
    attribute_changes_type_ = false;
    item.type = adjusted(derive(d->specifiers.type, item.declarator));
    after_declarator(item);
    item.symbol = declare(item, d->specifiers, DeclarationRole::Parameter);
    part.param_symbols.push_back(item.symbol);
    d->touched = d->specifiers.touched || touched_declarator(item.declarator);
    d->last = pos_;
    d->declarators.push_back(std::move(item));
    part.params.push_back(d);
}

// Whether two names follow each other in the list of a K&R definition: types are declared behind
// it.
bool Parser::misses_comma() const
{
    if (!before_a_word() || is_space_word())
        return false;
    uint32_t ahead = 0;
    while (peek(ahead).kind == Tok::Ident || peek(ahead).kind == Tok::Comma)
        ahead++;
    return peek(ahead).kind == Tok::RParen && starts_declaration(ahead + 1) &&
           body_behind_declarations(pos_ + ahead + 1);
}

// The names of a K&R definition; their types come later.
void Parser::identifier_list(Part &part)
{
    bool comma_missing;
    do {
        Symbol *symbol = ast_.symbol();
        symbol->kind = SymbolKind::Object;
        symbol->parameter = true;
        symbol->name = peek().name;
        symbol->token = pos_;
        comma_missing = misses_comma();
        if (before_a_word() && !is_space_word() && !comma_missing)
            unknown_word();
        expect(Tok::Ident, "the name of a parameter");
        if (comma_missing)
            missing("',' after the name of a parameter").insert_after(range_before(), ",");
        else if (!is(Tok::Comma) && !is(Tok::RParen))
            check_word_before_name();
        part.param_symbols.push_back(symbol);
    } while (accept(Tok::Comma) || comma_missing);
}

// Returns the type that the declarator derives from its base.
std::vector<const Extent *> Parser::own_dimensions(const Declarator &d)
{
    std::vector<const Extent *> dimensions;
    for (const Part &part : d.parts) {
        if (part.kind != Part::Array)
            break;
        dimensions.push_back(&part.extents[0]);
    }
    return dimensions;
}

const Type *Parser::derive(const Type *base, const Declarator &d)
{
    const Type *type = base;
    for (auto part = d.parts.rbegin(); part != d.parts.rend(); ++part) {
        switch (part->kind) {
        case Part::Pointer:
            if (type->kind == TypeKind::SpreadArray)
                fail(tokens_[d.first].range(), "a pointer to a spread array: use a spread pointer");
            type = types_.qualified(types_.pointer(type, part->space), part->quals);
            break;
        case Part::Array:
            if (type->kind == TypeKind::SpreadArray)
                fail(tokens_[part->first].range(),
                     "an array of spread arrays: put the dimension left of '::'");
            type = types_.array(type, part->extents[0]);
            break;
        case Part::Spread: {
            if (type->kind == TypeKind::SpreadArray)
                fail(tokens_[part->first].range(), "'::' stands twice in one declarator");
            std::vector<const Extent *> dimensions;
            for (const Extent &extent : part->extents)
                dimensions.push_back(types_.extent(extent));
            type = types_.spread_array(type, std::move(dimensions));
            break;
        }
        case Part::Function: {
            if (type->kind == TypeKind::SpreadArray)
                fail(tokens_[part->first].range(), "a function cannot return a spread array");
            std::vector<const Type *> params;
            for (const Symbol *symbol : part->param_symbols)
                params.push_back(symbol->type);
            type = types_.function(
                type, part->prototype ? std::move(params) : std::vector<const Type *>(),
                part->prototype, part->variadic);
            break;
        }
        }
    }
    return type;
}

// Returns the type of a parameter: arrays and functions become pointers (C17 6.7.6.3).  A spread
// array keeps its type, because indexing needs its dimensions; it is passed as a spread pointer.
const Type *Parser::adjusted(const Type *type)
{
    if (type->kind == TypeKind::Array)
        return types_.pointer(type->base);
    if (type->kind == TypeKind::Function)
        return types_.pointer(type);
    return type;
}

bool Parser::touched_declarator(const Declarator &d) const
{
    return d.touched || d.far;
}

// type-name = specifiers [abstract-declarator]
TypeName *Parser::type_name()
{
    Depth depth(*this);
    TypeName *t = ast_.type_name();
    t->first = pos_;
    while (accept(Tok::KwExtension)) {
    }
    specifiers(t->specifiers, false);
    declarator(t->declarator, Abstract::Yes, false);
    t->type = derive(t->specifiers.type, t->declarator);
    t->last = pos_;
    if (t->type->kind == TypeKind::SpreadArray) {
        diag_.error(tokens_.range(t->first, t->last),
                    "a spread array's type can stand only in its declaration; name the array, or "
                    "a spread pointer to its blocks");
        t->type = types_.unknown();
    }
    t->touched = t->specifiers.touched || touched_declarator(t->declarator);
    return t;
}

} // namespace splitcc
