// Embree 3 or Embree 4, depending on the installation.
#pragma once

#if __has_include(<embree3/rtcore.h>)
#include <embree3/rtcore.h>
#else
#include <embree4/rtcore.h>
#endif
