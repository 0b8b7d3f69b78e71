// Includes Embree 3 if it is installed, else Embree 4.
#pragma once

#if __has_include(<embree3/rtcore.h>)
#include <embree3/rtcore.h>
#else
#include <embree4/rtcore.h>
#endif
