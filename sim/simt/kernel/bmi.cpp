// The kernel for x86-64 processors with BMI, BMI2 and POPCNT: built with their flags (CMakeLists.txt).
#define RAYREPLAY_SIMT_KERNEL bmi
#include "sim/simt/kernel/body.hpp"

namespace rayreplay::simt::kernel {

extern const Kernel kBmiKernel;
constinit const Kernel kBmiKernel{"bmi", bmi::kEntries<std::uint8_t>, bmi::kEntries<std::uint16_t>};

}  // namespace rayreplay::simt::kernel
