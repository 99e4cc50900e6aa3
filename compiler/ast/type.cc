// SPDX-License-Identifier: BSD-3-Clause
#include "ast/type.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace splitcc {
namespace {

struct BasicInfo {
    std::string_view name;
    int64_t size;
};

// The order is that of TypeKind, up to LDouble.
constexpr BasicInfo kBasic[] = {
    {"<unknown>", 0},   {"void", 0},
    {"_Bool", 1},       {"char", 1},
    {"signed char", 1}, {"unsigned char", 1},
    {"short", 2},       {"unsigned short", 2},
    {"int", 4},         {"unsigned int", 4},
    {"long", 8},        {"unsigned long", 8},
    {"long long", 8},   {"unsigned long long", 8},
    {"__int128", 16},   {"unsigned __int128", 16},
    {"enum", 4},        {"float", 4},
    {"double", 8},      {"long double", 16},
};

int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

} // namespace

Types::Types()
{
    basic_.resize(static_cast<size_t>(TypeKind::SpreadArray) + 1);
    for (size_t i = 0; i <= static_cast<size_t>(TypeKind::LDouble); i++)
        basic_[i] = make(static_cast<TypeKind>(i));
}

Type *Types::make(TypeKind kind)
{
    Type &type = types_.emplace_back();
    type.kind = kind;
    type.unqualified = &type;
    return &type;
}

const Type *Types::pointer(const Type *to, Space space)
{
    const Type *&made = to->pointers[static_cast<size_t>(space)];
    if (!made) {
        Type *type = make(TypeKind::Pointer);
        type->base = to;
        type->space = space;
        made = type;
    }
    return made;
}

const Type *Types::array(const Type *of, Extent extent)
{
    Type *type = make(TypeKind::Array);
    type->base = of;
    type->extent = std::move(extent);
    return type;
}

const Type *Types::unsized_array(const Type *of)
{
    if (!of->unsized_array)
        of->unsized_array = array(of, {});
    return of->unsized_array;
}

const Type *Types::spread_array(const Type *block, std::vector<const Extent *> dimensions)
{
    Type *type = make(TypeKind::SpreadArray);
    type->base = block;
    type->spread = std::move(dimensions);
    return type;
}

const Type *Types::function(const Type *result, std::vector<const Type *> params, bool prototype,
                            bool variadic)
{
    Type *type = make(TypeKind::Function);
    type->base = result;
    type->params = std::move(params);
    type->prototype = prototype;
    type->variadic = variadic;
    return type;
}

const Type *Types::complex(const Type *part)
{
    Type *type = make(TypeKind::Complex);
    type->base = part;
    return type;
}

const Type *Types::opaque(std::string_view spelled)
{
    Type *type = make(TypeKind::Opaque);
    type->spelled = spelled;
    return type;
}

const Type *Types::record(Record *record)
{
    Type *type = make(TypeKind::Record);
    type->record = record;
    return type;
}

const Type *Types::enumeration(Enumeration *enumeration)
{
    Type *type = make(TypeKind::Enum);
    type->enumeration = enumeration;
    return type;
}

const Type *Types::decayed(const Type *type)
{
    return type->kind == TypeKind::SpreadArray ? pointer(type->base, Space::Spread) : type;
}

const Type *Types::qualified(const Type *type, uint8_t quals)
{
    if ((type->quals | quals) == type->quals)
        return type;
    // qualifiers belong to the elements (C17 6.7.3)
    const bool array = type->kind == TypeKind::Array;
    const Type *element = array ? qualified(type->base, quals) : type->base;
    if (array && element == type->base)
        return type;
    quals |= type->quals;
    // an array gets its own copy, because its size may be captured later
    const Type *made = array ? nullptr : type->variants;
    while (made && made->quals != quals)
        made = made->next_variant;
    return made ? made : make_qualified(type, element, quals);
}

const Type *Types::make_qualified(const Type *type, const Type *element, uint8_t quals)
{
    const bool array = type->kind == TypeKind::Array;
    Type &copy = types_.emplace_back(*type);
    std::fill(std::begin(copy.pointers), std::end(copy.pointers), nullptr);
    copy.unsized_array = copy.variants = nullptr;
    copy.base = element;
    if (array) {
        copy.unqualified = &copy;
    } else {
        copy.quals = quals;
        copy.next_variant = std::exchange(type->variants, &copy);
    }
    return &copy;
}

Record *Types::new_record()
{
    return &records_.emplace_back();
}

Enumeration *Types::new_enumeration()
{
    return &enumerations_.emplace_back();
}

// Dimensions that are not known could be the same.
static bool same_extent(const Extent &a, const Extent &b)
{
    return !a.value || !b.value || a.value == b.value;
}

// Two spread arrays, of which the dimensions left of :: are compared from one of them on.
static bool same_spread_array(const Type *a, const Type *b, size_t from)
{
    bool same = a->spread.size() == b->spread.size() && same_type(a->base, b->base);
    for (size_t i = from; same && i < a->spread.size(); i++)
        same = same_extent(*a->spread[i], *b->spread[i]);
    return same;
}

// A spread array as a parameter is passed as a pointer to its first element.
static bool same_parameter(const Type *a, const Type *b)
{
    if (a->kind == TypeKind::SpreadArray && b->kind == TypeKind::SpreadArray)
        return same_spread_array(a, b, 1);
    if (a->kind == TypeKind::SpreadArray && b->kind == TypeKind::Pointer)
        std::swap(a, b);
    if (a->kind == TypeKind::Pointer && b->kind == TypeKind::SpreadArray)
        return a->space == Space::Spread && same_type(a->base, b->base);
    return same_type(a, b);
}

bool same_type(const Type *a, const Type *b)
{
    if (a->unqualified == b->unqualified)
        return true;
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case TypeKind::Pointer:
        return a->space == b->space && a->base->quals == b->base->quals &&
               same_type(a->base, b->base);
    case TypeKind::Array:
        return same_type(a->base, b->base) && same_extent(a->extent, b->extent);
    case TypeKind::SpreadArray:
        return same_spread_array(a, b, 0);
    case TypeKind::Function:
        return same_type(a->base, b->base) &&
               (!a->prototype || !b->prototype ||
                (a->variadic == b->variadic &&
                 std::equal(a->params.begin(), a->params.end(), b->params.begin(), b->params.end(),
                            same_parameter)));
    case TypeKind::Record:
        return a->record == b->record;
    case TypeKind::Enum:
        return a->enumeration == b->enumeration;
    case TypeKind::Complex:
        return same_type(a->base, b->base);
    case TypeKind::Opaque:
        return a->spelled == b->spelled;
    default:
        return true;
    }
}

// Returns the integer type that an enumeration is compatible with; other kinds are returned as they
// are.
static TypeKind compatible_kind(const Type *type)
{
    if (type->kind != TypeKind::Enum || !type->enumeration->complete)
        return type->kind;
    return type->enumeration->negative ? TypeKind::Int : TypeKind::UInt;
}

// Returns the signed type of the two integer types of one size.
static TypeKind without_sign(TypeKind kind)
{
    switch (kind) {
    case TypeKind::Char:
    case TypeKind::UChar:
        return TypeKind::SChar;
    case TypeKind::UShort:
        return TypeKind::Short;
    case TypeKind::UInt:
        return TypeKind::Int;
    case TypeKind::ULong:
        return TypeKind::Long;
    case TypeKind::ULLong:
        return TypeKind::LLong;
    case TypeKind::UInt128:
        return TypeKind::Int128;
    default:
        return kind;
    }
}

Pointees compare_pointees(const Type *a, const Type *b)
{
    for (const Type *type : {a, b})
        if (type->kind == TypeKind::Void || type->kind == TypeKind::Opaque || type->is_unknown())
            return Pointees::Compatible;
    if (same_type(a, b))
        return Pointees::Compatible;
    TypeKind left = compatible_kind(a), right = compatible_kind(b);
    if (!a->is_integer() || !b->is_integer() || without_sign(left) != without_sign(right) ||
        left == TypeKind::Enum)
        return Pointees::Different;
    return left == right ? Pointees::Compatible : Pointees::OtherSign;
}

uint8_t object_quals(const Type *type)
{
    while (type->kind == TypeKind::Array)
        type = type->base;
    return type->quals;
}

const Member *const_member_of(const Type *type)
{
    while (type->kind == TypeKind::Array)
        type = type->base;
    return type->kind == TypeKind::Record ? type->record->const_member : nullptr;
}

const Member *find_const_member(const Record *record)
{
    for (const Member &member : record->members) {
        const bool unnamed_bits = member.bit_field && !member.name;
        if (object_quals(member.type) & kConst && !unnamed_bits)
            return &member;
        if (const Member *inner = const_member_of(member.type))
            return inner;
    }
    return nullptr;
}

std::optional<int64_t> size_of(const Type *type)
{
    switch (type->kind) {
    case TypeKind::Unknown:
    case TypeKind::Opaque:
    case TypeKind::SpreadArray:
        return {};
    case TypeKind::Void:
    case TypeKind::Function:
        return 1; // GNU C defines it so
    case TypeKind::Pointer:
        return 8;
    case TypeKind::Complex:
        if (auto part = size_of(type->base))
            return 2 * *part;
        return {};
    case TypeKind::Array:
        if (auto element = size_of(type->base); element && type->extent.value)
            if (int64_t bytes; !__builtin_mul_overflow(*element, *type->extent.value, &bytes))
                return bytes;
        return {};
    case TypeKind::Record:
        return type->record->size;
    default:
        return kBasic[static_cast<size_t>(type->kind)].size;
    }
}

std::optional<int64_t> align_of(const Type *type)
{
    switch (type->kind) {
    case TypeKind::Array:
    case TypeKind::Complex:
        return align_of(type->base);
    case TypeKind::Record:
        return type->record->align;
    default:
        return size_of(type);
    }
}

void lay_out(Record *record)
{
    int64_t offset = 0, align = 1, size = 0;
    for (Member &member : record->members) {
        auto bytes = size_of(member.type);
        if (member.type->kind == TypeKind::Array && !member.type->extent.value &&
            !member.type->extent.size)
            bytes = 0; // a flexible array member
        auto alignment = align_of(member.type);
        if (!bytes || !alignment || member.bit_field || record->packed)
            return;
        offset = record->is_union ? 0 : round_up(offset, *alignment);
        member.offset = offset;
        if (__builtin_add_overflow(offset, *bytes, &offset) || offset > INT64_MAX / 2)
            return;
        size = std::max(size, offset);
        align = std::max(align, *alignment);
    }
    record->align = align;
    record->size = round_up(size, align);
}

bool variably_sized(const Type *type)
{
    for (; type->kind == TypeKind::Array; type = type->base)
        if (type->extent.size && !type->extent.value)
            return true;
    return false;
}

bool mentions_far(const Type *type)
{
    for (; type; type = type->base) {
        if (type->is_far() || type->kind == TypeKind::SpreadArray)
            return true;
        if (std::any_of(type->params.begin(), type->params.end(), mentions_far))
            return true;
    }
    return false;
}

const Member *find_member(const Type *record, const Name *name)
{
    for (const Member &member : record->record->members) {
        if (member.name == name)
            return &member;
        if (!member.name && member.type->kind == TypeKind::Record)
            if (const Member *inner = find_member(member.type, name))
                return inner;
    }
    return nullptr;
}

namespace {

std::string qualifiers(uint8_t quals)
{
    std::string text;
    if (quals & kConst)
        text += "const ";
    if (quals & kVolatile)
        text += "volatile ";
    if (quals & kAtomic)
        text += "_Atomic ";
    return text;
}

std::string dimension(const Extent &extent)
{
    return "[" + (extent.value ? std::to_string(*extent.value) : extent.size ? "*" : "") + "]";
}

std::string parameters(const Type *function)
{
    if (!function->prototype)
        return "()";
    std::string text;
    for (const Type *param : function->params)
        text += (text.empty() ? "" : ", ") + describe(param);
    if (function->variadic)
        text += ", ...";
    return "(" + (text.empty() ? "void" : text) + ")";
}

std::string describe_base(const Type *type)
{
    std::string text = qualifiers(type->quals);
    switch (type->kind) {
    case TypeKind::Record: // by the name of a typedef where it has no tag
        if (!type->record->spelled.empty())
            return text + type->record->spelled;
        return text + (type->record->is_union ? "union" : "struct") + " <anonymous>";
    case TypeKind::Enum:
        return text + (type->enumeration->spelled.empty() ? "enum <anonymous>"
                                                          : type->enumeration->spelled);
    case TypeKind::Opaque:
        return text + type->spelled;
    case TypeKind::Complex:
        return text + describe_base(type->base) + " _Complex";
    default:
        return text + std::string(kBasic[static_cast<size_t>(type->kind)].name);
    }
}

// Returns the whole type, where `inner` is its declarator so far.
std::string describe_around(const Type *type, std::string inner)
{
    switch (type->kind) {
    case TypeKind::Pointer: {
        static constexpr std::string_view stars[] = {"*", "*global", "*spread"};
        std::string star(stars[static_cast<size_t>(type->space)]);
        if (type->quals || (type->space != Space::Local && !inner.empty()))
            star += ' ';
        star += qualifiers(type->quals & static_cast<uint8_t>(~kRestrict));
        bool wrap = type->base->kind == TypeKind::Array || type->base->kind == TypeKind::Function;
        return describe_around(type->base, wrap ? "(" + star + inner + ")" : star + inner);
    }
    case TypeKind::Array:
        return describe_around(type->base, inner + dimension(type->extent));
    case TypeKind::SpreadArray: {
        for (const Extent *extent : type->spread)
            inner += dimension(*extent);
        return describe_around(type->base, inner + "::");
    }
    case TypeKind::Function:
        return describe_around(type->base, inner + parameters(type));
    default: {
        std::string base = describe_base(type);
        return inner.empty() ? base : base + " " + inner;
    }
    }
}

} // namespace

std::string describe(const Type *type)
{
    return describe_around(type, "");
}

std::string quoted(const Type *type)
{
    return "'" + describe(type) + "'";
}

} // namespace splitcc
