// The names of capture/spirv/ in the instrumentation's namespace: every pass uses them.
#pragma once

#include "capture/spirv/module.hpp"

namespace rayreplay::instrument {

using namespace spirv;  // NOLINT(google-build-using-namespace)

}  // namespace rayreplay::instrument
