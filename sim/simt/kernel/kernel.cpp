#include "sim/simt/kernel/kernel.hpp"

namespace rayreplay::simt::kernel {

extern const Kernel kPortableKernel;
#ifdef RAYREPLAY_SIMT_X86
extern const Kernel kSse2Kernel;
extern const Kernel kAvx2Kernel;
#endif

std::span<const Kernel* const> kernels() {
  static const std::vector<const Kernel*> list = [] {
    std::vector<const Kernel*> found;
#ifdef RAYREPLAY_SIMT_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt")) {
      found.push_back(&kAvx2Kernel);
    }
    found.push_back(&kSse2Kernel);
#endif
    found.push_back(&kPortableKernel);
    return found;
  }();
  return list;
}

}  // namespace rayreplay::simt::kernel
