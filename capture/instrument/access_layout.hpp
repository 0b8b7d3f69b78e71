// Recorded accesses of a module to buffers and images: which instructions record, and what they access.
//
// Contract: data only. A site's number is its index in Result::accesses; records name it (probes/record.h).
#pragma once

#include <cstdint>
#include <vector>

namespace rayreplay::instrument {

enum class AccessKind : std::uint8_t {
  Load = 0,
  Store,
  Atomic,
  Sample,  ///< of an image, by coordinates that need not be those of a texel
};

/// The origin of the recorded address.
enum class AccessSpace : std::uint8_t {
  Descriptor = 0,  ///< the start of the buffer that set, binding and element name
  Device,          ///< 0: it is a device address
  ShaderRecord,    ///< the start of the shader record's data
  Image,           ///< none: it is a texel of the image that set and binding name, and the place in their array
};

struct AccessSite {
  std::vector<std::uint16_t> shaders;  ///< that reach it, ascending
  std::uint32_t function = 0;          ///< its place among the module's functions
  std::uint32_t block = 0;             ///< in the function
  std::uint32_t instruction = 0;       ///< in the function, from 0: OpFunction
  AccessKind kind = AccessKind::Load;
  AccessSpace space = AccessSpace::Descriptor;
  std::uint32_t set = 0, binding = 0;  ///< Descriptor, Image
  std::uint32_t element = 0;           ///< Descriptor: in an array of descriptors
  std::uint32_t bytes = 0;             ///< from the first to behind the last; Image: 0
};

}  // namespace rayreplay::instrument
