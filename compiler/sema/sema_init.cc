// SPDX-License-Identifier: BSD-3-Clause
//
// The values of initializers: pointers into the global address space are converted wherever
// they stand.
#include "sema/sema.h"

namespace splitcc {

// A far pointer with static storage can start only as NULL or as a number.
void Sema::check_static(const Expr *e, const Type *type)
{
    e = strip(e);
    bool number = e->kind == ExprKind::Cast && e->a->value;
    if (type->is_far() && !is_null_constant(e) && !number && !e->type->is_unknown())
        diag_.error(range(e),
                    "a static global pointer cannot start with this: its processor is known "
                    "only when the program runs; assign it in splitc_main");
}

Expr *Sema::initialize(Subobjects &objects, Expr *e)
{
    const Type *type = objects.take(e);
    if (objects.is_static())
        check_static(e, type);
    if (type->kind == TypeKind::Array)
        return value(e);
    e = convert(e, type, "initialization");
    if (reads_globally(e))
        check_kept(e, type, "initialization");
    return e;
}

} // namespace splitcc
