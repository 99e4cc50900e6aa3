// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    sync();
    EXPECT(is_sync(), 1);
    store_sync(0);
    EXPECT(is_store_sync(0), 1);
    EXPECT(is_store_sync(1), 0);
    reset_store_sync();
    all_store_sync();
    barrier();
    sync();
    return failures;
}
