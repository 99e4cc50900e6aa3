// SPDX-License-Identifier: BSD-3-Clause
#include "ast/type.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <string>

using namespace splitcc;

namespace {

struct Fixture {
    Types types;
    Names names;

    const Type *basic(TypeKind kind) { return types.basic(kind); }
    const Type *array(const Type *of, int64_t n)
    {
        Extent extent;
        extent.value = n;
        return types.array(of, extent);
    }
    const Type *spread(const Type *block, std::initializer_list<int64_t> dimensions)
    {
        std::vector<const Extent *> extents;
        for (int64_t n : dimensions) {
            Extent extent;
            extent.value = n;
            extents.push_back(types.extent(extent));
        }
        return types.spread_array(block, extents);
    }
    void add(Record *record, const char *name, const Type *type, bool bit_field = false)
    {
        record->members.push_back({name ? names.intern(name) : nullptr, type, bit_field, {}});
    }
    const Type *finish(Record *record)
    {
        record->complete = true;
        lay_out(record);
        return types.record(record);
    }
};

} // namespace

TEST_CASE_METHOD(Fixture, "sizes and alignments are those of this machine")
{
    CHECK(size_of(basic(TypeKind::Bool)) == sizeof(bool));
    CHECK(size_of(basic(TypeKind::Short)) == sizeof(short));
    CHECK(size_of(basic(TypeKind::Int)) == sizeof(int));
    CHECK(size_of(basic(TypeKind::Long)) == sizeof(long));
    CHECK(size_of(basic(TypeKind::LDouble)) == sizeof(long double));
    CHECK(align_of(basic(TypeKind::LDouble)) == alignof(long double));
    CHECK(size_of(basic(TypeKind::Void)) == 1);
    CHECK(size_of(types.pointer(basic(TypeKind::Int), Space::Global)) == 8);
    CHECK(size_of(types.complex(basic(TypeKind::Float))) == 8);
    CHECK(align_of(types.complex(basic(TypeKind::Double))) == 8);
    CHECK(size_of(array(array(basic(TypeKind::Int), 3), 5)) == 60);
    CHECK_FALSE(size_of(types.array(basic(TypeKind::Int), {})));
    CHECK_FALSE(size_of(array(array(basic(TypeKind::Int), INT64_MAX / 2), 5)));
    CHECK_FALSE(size_of(types.opaque("v4")));
    CHECK_FALSE(size_of(spread(basic(TypeKind::Int), {3})));
}

TEST_CASE_METHOD(Fixture, "records are laid out as the compiler lays them out")
{
    struct Native {
        char c;
        double d;
        short s[3];
        char *p;
        char last;
    };
    Record *record = types.new_record();
    add(record, "c", basic(TypeKind::Char));
    add(record, "d", basic(TypeKind::Double));
    add(record, "s", array(basic(TypeKind::Short), 3));
    add(record, "p", types.pointer(basic(TypeKind::Char)));
    add(record, "last", basic(TypeKind::Char));
    const Type *type = finish(record);
    CHECK(size_of(type) == sizeof(Native));
    CHECK(align_of(type) == alignof(Native));
    CHECK(record->members[1].offset == offsetof(Native, d));
    CHECK(record->members[2].offset == offsetof(Native, s));
    CHECK(record->members[3].offset == offsetof(Native, p));
    CHECK(record->members[4].offset == offsetof(Native, last));
}

TEST_CASE_METHOD(Fixture, "unions are as large as their largest member")
{
    Record *record = types.new_record();
    record->is_union = true;
    add(record, "i", basic(TypeKind::Int));
    add(record, "c", array(basic(TypeKind::Char), 9));
    CHECK(size_of(finish(record)) == 12);
    CHECK(record->members[1].offset == 0);
}

TEST_CASE_METHOD(Fixture, "what the layout depends on and is not known leaves the size open")
{
    Record *bits = types.new_record(), *opaque = types.new_record(), *packed = types.new_record();
    add(bits, "b", basic(TypeKind::UInt), true);
    add(opaque, "v", types.opaque("v4"));
    add(packed, "c", basic(TypeKind::Char));
    packed->packed = true;
    for (Record *record : {bits, opaque, packed})
        CHECK_FALSE(size_of(finish(record)));
}

TEST_CASE_METHOD(Fixture, "types are described as a programmer writes them")
{
    const Type *i = basic(TypeKind::Int), *c = types.qualified(basic(TypeKind::Char), kConst);
    const Type *g = types.pointer(i, Space::Global);
    CHECK(describe(g) == "int *global");
    CHECK(describe(types.pointer(c, Space::Spread)) == "const char *spread");
    CHECK(describe(types.pointer(g)) == "int *global *");
    CHECK(describe(types.qualified(g, kConst)) == "int *global const ");
    CHECK(describe(array(g, 3)) == "int *global [3]");
    CHECK(describe(types.pointer(array(i, 3), Space::Global)) == "int (*global)[3]");
    CHECK(describe(types.function(g, {g, c}, true, true)) ==
          "int *global (int *global, const char, ...)");
    CHECK(describe(types.pointer(types.function(i, {}, true, false))) == "int (*)(void)");
    CHECK(describe(types.pointer(types.function(i, {}, false, false))) == "int (*)()");
    CHECK(describe(spread(array(i, 4), {2, 3})) == "int [2][3]::[4]");
    CHECK(describe(types.complex(basic(TypeKind::Float))) == "float _Complex");
}

TEST_CASE_METHOD(Fixture, "types are the same by structure")
{
    const Type *i = basic(TypeKind::Int), *ci = types.qualified(i, kConst);
    auto global = [&](const Type *t) { return types.pointer(t, Space::Global); };
    CHECK(same_type(i, ci)); // the outermost level apart
    CHECK(same_type(global(i), global(i)));
    CHECK_FALSE(same_type(global(i), global(ci)));
    CHECK_FALSE(same_type(global(i), types.pointer(i, Space::Spread)));
    CHECK_FALSE(same_type(global(i), types.pointer(i)));
    CHECK(same_type(array(i, 3), types.array(i, {})));
    CHECK_FALSE(same_type(array(i, 3), array(i, 4)));
    CHECK_FALSE(same_type(spread(i, {3}), spread(i, {3, 3})));
    CHECK(same_type(types.function(i, {}, false, false), types.function(i, {i}, true, false)));
    CHECK_FALSE(same_type(types.function(i, {i}, true, true), types.function(i, {i}, true, false)));
    CHECK_FALSE(same_type(types.function(i, {global(i)}, true, false),
                          types.function(i, {i}, true, false)));
    CHECK_FALSE(same_type(types.record(types.new_record()), types.record(types.new_record())));
}

TEST_CASE_METHOD(Fixture, "far pointers are found in a derivation")
{
    const Type *i = basic(TypeKind::Int), *g = types.pointer(i, Space::Global);
    CHECK(mentions_far(g));
    CHECK(mentions_far(types.pointer(array(g, 2))));
    CHECK(mentions_far(types.function(i, {types.pointer(g)}, true, false)));
    CHECK(mentions_far(spread(i, {2})));
    CHECK_FALSE(mentions_far(types.pointer(types.function(i, {types.pointer(i)}, true, false))));
}

TEST_CASE_METHOD(Fixture, "members are found in anonymous records too")
{
    Record *inner = types.new_record(), *outer = types.new_record();
    add(inner, "deep", basic(TypeKind::Long));
    add(outer, "top", basic(TypeKind::Int));
    add(outer, nullptr, finish(inner));
    const Type *type = finish(outer);
    REQUIRE(find_member(type, names.intern("deep")));
    CHECK(find_member(type, names.intern("deep"))->type->kind == TypeKind::Long);
    CHECK(find_member(type, names.intern("top"))->type->kind == TypeKind::Int);
    CHECK_FALSE(find_member(type, names.intern("none")));
}
