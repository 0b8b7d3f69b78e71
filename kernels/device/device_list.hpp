// The Vulkan devices of this machine and their features for the kernels.
//
// Contract: `list_devices` asks the Vulkan loader, found at run time; the loader's order is that of N in `vulkan:N`.
// `unfit` says why a device cannot run any kernel; empty: it can. Some kernels need further features (Needs). Errors:
// Missing without a Vulkan loader (`fix` says what to install); without devices the list is empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/accelerator.hpp"

namespace rayreplay::kernels {

enum class DeviceType : std::uint8_t { Other, Integrated, Discrete, Virtual, Cpu };
[[nodiscard]] const char* to_string(DeviceType type);

using Needs = DeviceNeeds;

struct DeviceInfo {
  std::uint32_t index = 0;  ///< of the loader's list
  std::string name;
  std::string uuid;    ///< 32 hexadecimal digits
  std::string driver;  ///< name and version, as the driver says it
  std::string api;     ///< "1.4.305"
  DeviceType type = DeviceType::Other;
  std::uint32_t subgroup_size = 0;   ///< unless asked otherwise
  std::uint32_t least_subgroup = 0;  ///< sizes that can be asked for; equal to subgroup_size if none can
  std::uint32_t greatest_subgroup = 0;
  std::uint32_t most_group_threads = 0;  ///< of a workgroup
  std::uint32_t shared_bytes = 0;        ///< of a workgroup
  std::uint64_t memory_bytes = 0;        ///< device-local
  std::uint64_t most_allocation = 0;     ///< bytes of one allocation
  std::uint64_t most_buffer = 0;         ///< bytes of one buffer
  bool sparse = false;                   ///< one buffer may consist of several allocations
  bool host_memory = false;              ///< its memory is the processor's (integrated GPUs, lavapipe)
  Needs has;
  std::string unfit;

  /// The features of `needs` that the device lacks, in words; empty: none.
  [[nodiscard]] std::string lacks(const Needs& needs) const;
};

[[nodiscard]] std::vector<DeviceInfo> list_devices();

}  // namespace rayreplay::kernels
