/* SPDX-License-Identifier: BSD-3-Clause */
    barrier();
    total += *g
#ifdef DOUBLED
        * 2
#endif
        ;
