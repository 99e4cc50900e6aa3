// SPDX-License-Identifier: BSD-3-Clause
//
// Counts by line (-fprofile-lines): each access and each call of the library has a site, which
// holds the runtime's counts.
#include "lower/lower.h"

namespace splitcc {

// A site is declared before the function that uses it and defined at the end of the unit, where
// each site points to the one before.
std::string Lower::site(const Expr *e, std::string_view what)
{
    std::string id = fresh("site");
    pending_ += "static struct splitc_site " + id + "; ";
    end_ += "static struct splitc_site " + id + " = {" + place(e) + ", \"" + std::string(what) +
            "\", " + (last_site_.empty() ? "0" : "&" + last_site_) + ", 0, 0, 0, 0, 0, 0};\n";
    last_site_ = id;
    return "&" + id;
}

// Returns the pointer of an access, which is counted.
Rope Lower::counted(Rope pointer, Access how, Rope size, const Expr *e)
{
    if (!profile_)
        return pointer;
    return "splitc_profile_access(" + std::move(pointer) + ", " + std::move(size) + ", " +
           site(e, access_name(how)) + ")";
}

} // namespace splitcc
