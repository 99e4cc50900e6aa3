// SPDX-License-Identifier: BSD-3-Clause
//
// Types.  splitcc needs a type for every expression, to know which of them lie
// in the global address space; what plain C code means is left to cc.  So where
// C is richer than this model (vectors, machine modes) the type is Opaque or
// Unknown, and expressions of such types pass through untouched.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lex/lex.h"

namespace splitcc {

struct Expr;
struct Type;

enum class TypeKind : uint8_t {
    Unknown, // some value; nothing is checked
    Void,
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LLong,
    ULLong,
    Int128,
    UInt128,
    Enum,
    Float,
    Double,
    LDouble,
    Opaque, // a scalar or vector that only its name describes
    Complex,
    Pointer,
    Array,
    Function,
    Record,
    SpreadArray, // T A[d1]..[dk]::[e1]..[em]
};

// Where a pointer points.
enum class Space : uint8_t { Local, Global, Spread };

enum Quals : uint8_t { kConst = 1, kVolatile = 2, kRestrict = 4, kAtomic = 8 };

struct Member {
    Name *name = nullptr; // null: an anonymous struct or union, or an unnamed bit-field
    const Type *type = nullptr;
    bool bit_field = false;
    std::optional<int64_t> offset; // bytes, where it could be computed
};

// A struct or union.
struct Record {
    bool is_union = false;
    bool complete = false;
    bool packed = false; // some attribute changes the layout: sizes are not computed
    Name *tag = nullptr;
    std::string spelled; // how emitted code names it; empty: it has no name yet
    uint32_t brace = 0;  // the token { of its definition
    std::vector<Member> members;
    std::optional<int64_t> size, align;
};

struct Enumeration {
    Name *tag = nullptr;
    std::string spelled;
    bool complete = false;
    bool negative = false; // some constant is: the type is int, not unsigned int
};

// One dimension of an array.
struct Extent {
    std::optional<int64_t> value; // constant
    Expr *size = nullptr;         // as written; null for []
    mutable std::string captured; // the variable that holds a run-time value
};

struct Type {
    TypeKind kind = TypeKind::Unknown;
    uint8_t quals = 0;
    Space space = Space::Local;        // Pointer
    bool variadic = false;             // Function
    bool prototype = false;            // Function: calls convert to the parameters' types
    const Type *base = nullptr;        // pointee, element, result, block, part of complex
    const Type *unqualified = nullptr; // this type without its own qualifiers
    std::vector<const Type *> params;  // Function, adjusted
    Record *record = nullptr;
    Enumeration *enumeration = nullptr;
    std::string spelled;                // Opaque: its name
    Extent extent;                      // Array
    std::vector<const Extent *> spread; // SpreadArray: the dimensions left of ::
    mutable std::string captured;       // Array of run-time size: a typedef that holds it
    // Made of this one when first needed, for many expressions have such types.
    mutable const Type *pointers[3] = {}; // by space
    mutable const Type *unsized_array = nullptr;
    mutable const Type *variants = nullptr; // the same with other qualifiers; the first of them
    const Type *next_variant = nullptr;

    bool is_pointer() const { return kind == TypeKind::Pointer; }
    bool is_local_pointer() const { return is_pointer() && space == Space::Local; }
    // A pointer into the global address space, of either kind.
    bool is_far() const { return is_pointer() && space != Space::Local; }
    bool is_integer() const { return kind >= TypeKind::Bool && kind <= TypeKind::Enum; }
    bool is_arithmetic() const { return kind >= TypeKind::Bool && kind <= TypeKind::Complex; }
    bool is_unknown() const { return kind == TypeKind::Unknown; }
};

// Makes types and owns them.
class Types {
public:
    Types();

    const Type *basic(TypeKind kind) const { return basic_[static_cast<size_t>(kind)]; }
    const Type *unknown() const { return basic(TypeKind::Unknown); }
    const Type *pointer(const Type *to, Space space = Space::Local);
    const Type *array(const Type *of, Extent extent);
    const Type *unsized_array(const Type *of);
    const Type *spread_array(const Type *block, std::vector<const Extent *> dimensions);
    const Extent *extent(Extent extent) { return &extents_.emplace_back(std::move(extent)); }
    const Type *function(const Type *result, std::vector<const Type *> params, bool prototype,
                         bool variadic);
    const Type *complex(const Type *part);
    const Type *opaque(std::string_view spelled);
    const Type *record(Record *record);
    const Type *enumeration(Enumeration *enumeration);
    const Type *qualified(const Type *type, uint8_t quals);
    // What a spread array, or a parameter of that type, is as a value; others as they are.
    const Type *decayed(const Type *type);

    Record *new_record();
    Enumeration *new_enumeration();

private:
    Type *make(TypeKind kind);
    const Type *make_qualified(const Type *type, const Type *element, uint8_t quals);

    std::deque<Type> types_;
    std::deque<Record> records_;
    std::deque<Enumeration> enumerations_;
    std::deque<Extent> extents_;
    std::vector<const Type *> basic_;
};

// Same type, qualifiers of the outermost level apart.
bool same_type(const Type *a, const Type *b);

// How pointees of types a and b compare where one pointer becomes the other (C17 6.5.16.1).
enum class Pointees : uint8_t { Compatible, OtherSign, Different };
Pointees compare_pointees(const Type *a, const Type *b);

// The qualifiers of an object of that type; of an array, those of its elements.
uint8_t object_quals(const Type *type);

// Size and alignment in bytes under the LP64 ABI, where they are constant and
// known to this model.
std::optional<int64_t> size_of(const Type *type);
std::optional<int64_t> align_of(const Type *type);

// Fill in member offsets and the size of a completed record.
void lay_out(Record *record);

// True if the type's size is known only at run time.
bool variably_sized(const Type *type);

// True if a pointer into the global address space occurs in its derivation
// (function parameters included, record members not).
bool mentions_far(const Type *type);

// The member of that name, looked for in anonymous members too; null if none.
const Member *find_member(const Type *record, const Name *name);

// The type as a Split-C programmer writes it, for messages.
std::string describe(const Type *type);
std::string quoted(const Type *type); // and in quotes

} // namespace splitcc
