// A SPIR-V module's parts (capture/spirv/) under the instrumentation's own names: every pass is about them.
#pragma once

#include "capture/spirv/module.hpp"

namespace rayreplay::instrument {

using namespace spirv;  // NOLINT(google-build-using-namespace)

}  // namespace rayreplay::instrument
