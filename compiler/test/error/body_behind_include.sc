#include "body_behind_include.h"
{
    int x;
}
