// The kernel for every x86-64 processor.
#define RAYREPLAY_SIMT_KERNEL sse2
#include "sim/simt/kernel/body.hpp"

namespace rayreplay::simt::kernel {

extern const Kernel kSse2Kernel;
constinit const Kernel kSse2Kernel{"sse2", sse2::kEntries<std::uint8_t>, sse2::kEntries<std::uint16_t>};

}  // namespace rayreplay::simt::kernel
