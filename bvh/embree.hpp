// Embree 3 or Embree 4, whichever is installed: the header that both rooms that use it include.
#pragma once

#if __has_include(<embree3/rtcore.h>)
#include <embree3/rtcore.h>
#else
#include <embree4/rtcore.h>
#endif
