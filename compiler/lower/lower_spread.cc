// SPDX-License-Identifier: BSD-3-Clause
//
// Spread arrays.  Automatic ones are allocated where they are declared; static ones by the runtime,
// before the program begins.
#include "lower/lower.h"

#include <utility>

#include "source/spelling.h"

namespace splitcc {

// Returns the number of blocks of a spread array.
Rope Lower::block_count(const Type *array)
{
    Rope count;
    for (const Extent *e : array->spread)
        count += (count.empty() ? "(splitc_size)(" : " * (splitc_size)(") + extent(*e) + ")";
    return count;
}

// The array is allocated at its declaration, and a cleanup attribute frees it.
Rope Lower::automatic_spread(const Declaration *d, const InitDeclarator &item)
{
    Rope rope = capture_far(item.type);
    // A type of run-time size makes the C compiler refuse jumps past the allocation.
    rope += "__extension__ typedef char " +
            fresh("scope_of_" + std::string(item.declarator.name->text) + "_") +
            "[splitc_job.procs]" + std::string(kUnused) + "; ";
    rope += not_type(d->specifiers) + far_type(item.declarator) + declarator(item.declarator) +
            " __attribute__((cleanup(" +
            (checks_ ? "splitc_check_cleanup" : "splitc_spread_cleanup") + ")))" +
            after_declarator(item) + " = " +
            (checks_ ? "splitc_check_spread_array(" : "splitc_spread_alloc(") +
            block_count(item.type) + ", " + size_of(item.type->base);
    if (checks_)
        rope += ", \"spread array '" + std::string(item.declarator.name->text) + "'\", " + place(d);
    rope += ")";
    return rope;
}

// Returns what registers a static object with a function ID_shape by its name, file and line.
Rope Lower::registered(const std::string &id, const InitDeclarator &item, std::string base)
{
    const Position at = source_.position(tokens_[item.declarator.name_token].offset);
    return "static struct splitc_static " + id + " = {" + std::move(base) + ", " + id +
           "_shape, \"" + std::string(item.declarator.name->text) + "\", " + c_string(at.file) +
           ", " + std::to_string(at.line) + ", 0}; static void __attribute__((constructor)) " + id +
           "_register(void) { splitc_register_static(&" + id + "); }";
}

// The runtime sets a pointer into static spread arrays when it has allocated these.  One inside a
// function moves to file scope under another name, as such an array does.  It is not const.
Rope Lower::static_pointer(const Declaration *d, const InitDeclarator &item)
{
    std::string name(item.declarator.name->text);
    const std::string id = fresh("pointer");
    Rope text = not_type(d->specifiers);
    if (!d->file_scope) {
        name = item.symbol->emitted = fresh("static") + "_" + name;
        text = "static ";
    }
    text += far_type(item.symbol->type->space) + name + "; static void " + id +
            "_shape(splitc_size *count, splitc_size *size) { (void)count; (void)size; " + name +
            " = " + node(item.symbol->start) + "; } " + registered(id, item, "0") + " ";
    if (d->file_scope)
        return text;
    pending_ += std::move(text);
    return {};
}

// The runtime allocates the array before splitc_main; a constructor registers its shape.  An array
// inside a function moves to file scope under another name.
Rope Lower::static_spread(const Declaration *d, const InitDeclarator &item)
{
    std::string name(item.declarator.name->text);
    Rope variable;
    bool known = false;
    if (d->file_scope) {
        variable = not_type(d->specifiers) + far_type(item.declarator) +
                   declarator(item.declarator) + after_declarator(item);
        known = !registered_.insert(name).second;
    } else {
        item.symbol->emitted = fresh("static") + "_" + name;
        variable = "static " + far_type(Space::Spread) + item.symbol->emitted;
    }
    std::string variable_name = d->file_scope ? name : item.symbol->emitted;
    Rope registration;
    hoisting_ = !d->file_scope;
    if (!known) {
        std::string id = fresh("array");
        registration =
            "static void " + id +
            "_shape(splitc_size *count, splitc_size *size) { *count = " + block_count(item.type) +
            "; *size = " + size_of(item.type->base) + "; } " +
            registered(id, item, "&" + variable_name);
    }
    hoisting_ = false;
    variable += "; ";
    if (d->file_scope)
        return std::move(variable) + std::move(registration) + " ";
    pending_ += std::move(variable) + std::move(registration) + " ";
    if (auto bytes = size_in_function(item.type->base))
        agreed_ += agreed_size(item.type->base, *bytes);
    return std::exchange(agreed_, Rope());
}

// At file scope the size is a number; the C compiler has to agree with it in the function.
Rope Lower::agreed_size(const Type *t, int64_t bytes)
{
    return "__extension__ _Static_assert(sizeof(" + type(t) + ") == " + std::to_string(bytes) +
           ", \"a size that a spread array has\"); ";
}

} // namespace splitcc
