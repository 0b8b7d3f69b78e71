#include <array>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::BuiltIn;

Id swizzled_launch_id(Rewriter& r, std::vector<Instruction>& out, std::uint32_t shader) {
  const std::array<Id, 2> arguments = {r.builtin_of(out, BuiltIn::LaunchIdKHR, shader),
                                       r.builtin_of(out, BuiltIn::LaunchSizeKHR, shader)};
  return r.call(out, r.linker.type_uvec(3), r.lookup("rr_swizzle"), arguments);
}

}  // namespace rayreplay::instrument
