#include "included_twice.h"
#include "included_twice.h"
