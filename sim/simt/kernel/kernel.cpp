#include "sim/simt/kernel/kernel.hpp"

namespace rayreplay::simt::kernel {

extern const Kernel kGenericKernel;
#ifdef RAYREPLAY_SIMT_X86
extern const Kernel kBmiKernel;
#endif

std::span<const Kernel* const> kernels() {
  static const std::vector<const Kernel*> list = [] {
    std::vector<const Kernel*> found;
#ifdef RAYREPLAY_SIMT_X86
    if (__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt")) {
      found.push_back(&kBmiKernel);
    }
#endif
    found.push_back(&kGenericKernel);
    return found;
  }();
  return list;
}

}  // namespace rayreplay::simt::kernel
