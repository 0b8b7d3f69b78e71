// Kinds of data that memory accesses read or write: the rows of every table about memory.
//
// Contract: every access has exactly one kind. `to_string` gives its name in tables, files and text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rayreplay::memory {

enum class DataKind : std::uint8_t {
  Node,
  Index,
  Vertex,
  Box,
  Instance,
  ShaderRecord,
  Payload,
  Stack,
  FrameBuffer,
  Other,       ///< of an allocation without a more specific kind
  State,       ///< live state of threads between two segments
  ShaderLoad,  ///< recorded load of a buffer by a shader, the application's own memory
  ShaderStore,
  ShaderAtomic,
  ImageLoad,  ///< recorded read of texels of an image by a shader
  ImageStore,
  ImageAtomic,
  ImageSample,  ///< the same through a sampler
  Queue,        ///< entries and counters of the queues in which threads wait between two segments
  Unallocated,  ///< outside every allocation
};
inline constexpr std::size_t kDataKinds = 20;

/// By DataKind.
inline constexpr std::array<std::string_view, kDataKinds> kDataKindNames = {
    "node",       "index",        "vertex",       "box",          "instance",    "shader-record", "payload",
    "stack",      "frame-buffer", "other",        "state",        "shader-load", "shader-store",  "shader-atomic",
    "image-load", "image-store",  "image-atomic", "image-sample", "queue",       "unallocated"};

[[nodiscard]] constexpr std::string_view to_string(DataKind kind) {
  return kDataKindNames[static_cast<std::size_t>(kind)];
}

}  // namespace rayreplay::memory
