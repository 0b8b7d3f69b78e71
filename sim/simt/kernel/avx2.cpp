// The kernel for x86-64 processors with AVX2, BMI and POPCNT: built with their flags (CMakeLists.txt).
#define RAYREPLAY_SIMT_KERNEL avx2
#include "sim/simt/kernel/body.hpp"

namespace rayreplay::simt::kernel {

extern const Kernel kAvx2Kernel;
constinit const Kernel kAvx2Kernel{"avx2", avx2::kEntries<std::uint8_t>, avx2::kEntries<std::uint16_t>};

}  // namespace rayreplay::simt::kernel
