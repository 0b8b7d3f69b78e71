// The kernel for any machine.
#define RAYREPLAY_SIMT_KERNEL generic
#include "sim/simt/kernel/body.hpp"

namespace rayreplay::simt::kernel {

extern const Kernel kGenericKernel;
constinit const Kernel kGenericKernel{"generic", generic::kEntries<std::uint8_t>, generic::kEntries<std::uint16_t>};

}  // namespace rayreplay::simt::kernel
