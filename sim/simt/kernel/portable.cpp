// The kernel for any machine: plain loops in place of intrinsics.
#define RAYREPLAY_SIMT_PORTABLE
#define RAYREPLAY_SIMT_KERNEL portable
#include "sim/simt/kernel/body.hpp"

namespace rayreplay::simt::kernel {

extern const Kernel kPortableKernel;
constinit const Kernel kPortableKernel{"portable", portable::kEntries<std::uint8_t>, portable::kEntries<std::uint16_t>};

}  // namespace rayreplay::simt::kernel
