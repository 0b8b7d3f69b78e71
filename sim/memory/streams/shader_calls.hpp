// The shader calls of threads' rays, and the record of the shader binding table that each one reads.
//
// Contract: a ray's calls are its Intersection, AnyHit, Miss, ClosestHit and Callable events, in their order. Records
// are those of Vulkan. Hit group: the instance's hit_group_offset + the ray's sbt_offset + its sbt_stride · the
// geometry's number in its structure. Miss: the ray's miss_index. The trace does not have the record of a callable: the
// first record of the captured table with that shader is assumed, or the record with the shader's number. Calls outside
// of rays (callables before the first trace call) are separate. O(events of the threads).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "sim/memory/streams/launch_memory.hpp"

namespace rayreplay::memory {

struct ShaderCall {
  trace::EventKind kind = trace::EventKind::Miss;
  trace::TableRegion region = trace::TableRegion::Miss;
  std::uint32_t record = 0;  ///< of the region

  [[nodiscard]] bool reads_payload() const {
    return kind == trace::EventKind::AnyHit || writes_payload();
  }
  [[nodiscard]] bool writes_payload() const {
    return kind == trace::EventKind::ClosestHit || kind == trace::EventKind::Miss;
  }
};

/// For some threads. Each thread has one place for its calls outside of rays, then one for each of its rays.
struct ShaderCalls {
  std::vector<std::uint64_t> first;  ///< places + 1
  std::vector<ShaderCall> calls;

  [[nodiscard]] std::span<const ShaderCall> of(std::uint64_t place) const {
    return std::span(calls).subspan(first[place], first[place + 1] - first[place]);
  }
};

class ShaderTable {
 public:
  ShaderTable(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure);

  [[nodiscard]] ShaderCalls calls(std::span<const std::uint32_t> threads) const;

 private:
  [[nodiscard]] ShaderCall call(std::uint64_t event, std::uint64_t ray) const;

  const trace::Launch* launch_;
  const bvh::Bvh* structure_;
  std::vector<std::uint32_t> callable_record_;  ///< by shader
};

}  // namespace rayreplay::memory
