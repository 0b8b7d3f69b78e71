#include "kernels/device/device_list.hpp"

namespace rayreplay::kernels {

const char* to_string(DeviceType type) {
  switch (type) {
    case DeviceType::Integrated:
      return "integrated GPU";
    case DeviceType::Discrete:
      return "discrete GPU";
    case DeviceType::Virtual:
      return "virtual GPU";
    case DeviceType::Cpu:
      return "processor";
    case DeviceType::Other:
      break;
  }
  return "other";
}

std::string DeviceInfo::lacks(const Needs& needs) const {
  const bool floats = needs.float64 && !has.float64;
  const bool atomics = needs.int64_atomics && !has.int64_atomics;
  return std::string(floats ? "64-bit floats (shaderFloat64)" : "") + (floats && atomics ? ", " : "") +
         (atomics ? "64-bit atomics (shaderBufferInt64Atomics)" : "");
}

}  // namespace rayreplay::kernels
