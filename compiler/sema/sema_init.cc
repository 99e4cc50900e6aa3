// SPDX-License-Identifier: BSD-3-Clause
//
// Values of initializers.  Far pointers are converted wherever they are in the object.
#include "sema/sema.h"

namespace splitcc {

// A far pointer with static storage can be initialized only with NULL or a number.
void Sema::check_static(const Expr *e, const Type *type)
{
    e = strip(e);
    const bool number = e->kind == ExprKind::Cast && (e->a->value || is_null_constant(strip(e->a)));
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
