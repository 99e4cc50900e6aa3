// SPDX-License-Identifier: BSD-3-Clause
//
// Types.
//
// splitcc needs the type of every expression, in order to know which of them are in the global
// address space.  The C compiler checks what plain C code means.  Where C is richer than this model
// (vectors, machine modes), the type is Opaque or Unknown, and expressions of such types are copied
// as they are.
//
// A *far* pointer points into the global address space: it is a global or a spread pointer.
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
    Unknown, // a value of which nothing is known and nothing is checked
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
    Opaque, // a scalar or vector that is described by its name only
    Complex,
    Pointer,
    Array,
    Function,
    Record,
    SpreadArray, // T A[d1]..[dk]::[e1]..[em]
};

// Which address space a pointer points into.
enum class Space : uint8_t { Local, Global, Spread };

enum Quals : uint8_t { kConst = 1, kVolatile = 2, kRestrict = 4, kAtomic = 8 };

struct Member {
    Name *name = nullptr; // null for an anonymous struct or union, and for an unnamed bit-field
    const Type *type = nullptr;
    bool bit_field = false;
    std::optional<int64_t> offset; // in bytes; empty if it cannot be computed
    uint32_t token = 0;            // the token that names it
};

// A struct or union.
struct Record {
    bool is_union = false;
    bool complete = false;
    bool packed = false; // an attribute changes the layout, so sizes are not computed
    bool file_scope = false;
    Name *tag = nullptr;
    std::string spelled; // its name in emitted code; empty if it has none yet
    uint32_t brace = 0;  // the token { of its definition
    std::vector<Member> members;
    const Member *const_member = nullptr; // one at any depth, so that no object can be assigned to
    std::optional<int64_t> size, align;
};

struct Enumeration {
    Name *tag = nullptr;
    std::string spelled;
    bool complete = false;
    bool negative = false; // a constant is negative, so the type is int and not unsigned int
};

// One dimension of an array.
struct Extent {
    std::optional<int64_t> value; // the value, if it is constant
    Expr *size = nullptr;         // as written; null for []
    mutable std::string captured; // the variable of the emitted code that holds a run-time value
};

struct Type {
    TypeKind kind = TypeKind::Unknown;
    uint8_t quals = 0;
    Space space = Space::Local; // Pointer
    bool variadic = false;      // Function
    bool prototype = false;     // a prototype, so that calls convert to the types of the parameters
    // of a pointer, array, function, spread array (its block) or complex type
    const Type *base = nullptr;
    const Type *unqualified = nullptr; // this type without its own qualifiers
    std::vector<const Type *> params;  // of a Function, with arrays and functions as pointers
    Record *record = nullptr;
    Enumeration *enumeration = nullptr;
    std::string spelled;                // the name of an Opaque type
    Extent extent;                      // Array
    std::vector<const Extent *> spread; // the dimensions left of :: of a SpreadArray
    // a typedef of the emitted code that holds an array's run-time size
    mutable std::string captured;
    // Types derived from this one, made when first needed, because many expressions have them.
    mutable const Type *pointers[3] = {}; // by space
    mutable const Type *unsized_array = nullptr;
    mutable const Type *variants = nullptr; // the list of this type with other qualifiers
    const Type *next_variant = nullptr;

    bool is_pointer() const { return kind == TypeKind::Pointer; }
    bool is_local_pointer() const { return is_pointer() && space == Space::Local; }
    // Returns whether this is a pointer into the global address space.
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
    // Returns the type of a spread array as a value; other types are returned as they are.
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

// Returns whether both are the same type, apart from the outermost qualifiers.
bool same_type(const Type *a, const Type *b);

// How the pointees of two pointers compare if one pointer is converted to the other (C17 6.5.16.1).
enum class Pointees : uint8_t { Compatible, OtherSign, Different };
Pointees compare_pointees(const Type *a, const Type *b);

// Returns the qualifiers of an object of that type; for an array, those of its elements.
uint8_t object_quals(const Type *type);

// Return size and alignment in bytes under the LP64 ABI.  They are empty if they are not constant,
// or not known to this model.
std::optional<int64_t> size_of(const Type *type);
std::optional<int64_t> align_of(const Type *type);

// Computes the offsets of the members and the size of a record that is complete.
void lay_out(Record *record);

// Returns a member of the record, or of one in it, that is const; null if there is none.
const Member *find_const_member(const Record *record);

// Returns the same for an object of that type, which may be an array.
const Member *const_member_of(const Type *type);

// Returns whether the size of the type is known at run time only.
bool variably_sized(const Type *type);

// Returns whether a far pointer or a spread array occurs in the derivation of the type, which
// includes the parameters of functions and not the members of records.
bool mentions_far(const Type *type);

// Returns the member of that name, which may be in an anonymous member; null if there is none.
const Member *find_member(const Type *record, const Name *name);

// Returns the type as Split-C writes it, for messages; quoted() adds the quotes.
std::string describe(const Type *type);
std::string quoted(const Type *type);

} // namespace splitcc
