// Random shader programs of made-up captures: the records that a thread leaves, written down together with the events
// and rays that they stand for.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/trace/trace.hpp"
#include "tests/ingest/spool_generator.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

/// What a lane executes: a record, and the event that it stands for.
struct Step {
  std::uint32_t kind = 0;
  std::uint16_t shader = 0;
  std::uint32_t site = 0;
  std::vector<std::uint32_t> fields;  ///< behind the thread
  std::size_t event = SIZE_MAX;       ///< in the thread's events
  std::size_t access = SIZE_MAX;      ///< in the thread's accesses
};

struct ExpectedAccess {
  std::uint16_t shader = 0;
  std::uint32_t site = 0, event = 0;
  std::uint64_t address = 0;
  std::uint32_t group = trace::kNone;
  bool is_row = true;  ///< false: of an image, without a texel
};

/// What a call counted: executions of the first block, and of the second. 0, 0: the call has no path.
struct ExpectedPath {
  std::uint32_t first = 0, second = 0;
};

struct ExpectedEvent {
  trace::EventKind kind = trace::EventKind::Begin;
  std::uint16_t shader = 0;
  float t = 0;
  std::uint32_t instance = 0, primitive = 0;
  std::uint8_t hit_kind = 0, accepted = 0;
  std::uint16_t geometry = 0;
  std::uint32_t ray = trace::kNone;
  std::uint32_t group = trace::kNone;
  ExpectedPath path;
};

struct ExpectedRay {
  float origin[3] = {}, direction[3] = {}, t_min = 0, t_max = 0;
  std::uint16_t flags = 0, miss = 0;
  std::uint8_t cull = 0, offset = 0, stride = 0, site = 0, hint_bits = 0;
  std::uint32_t hint = 0;
};

struct Thread {
  std::vector<Step> steps;
  std::vector<ExpectedEvent> events;
  std::vector<ExpectedRay> rays;
  std::vector<ExpectedAccess> accesses;
  ExpectedPath path;     ///< of the ray-generation shader
  std::size_t done = 0;  ///< steps
  bool recorded = true;
};

/// Two shaders of each stage: which is 0 or 1.
[[nodiscard]] inline std::uint16_t shader_id(trace::ShaderStage stage, unsigned which) {
  return static_cast<std::uint16_t>(static_cast<unsigned>(stage) + 6 * which);
}

/// Whether the calls of a shader record paths.
[[nodiscard]] inline bool has_paths(std::uint16_t shader) {
  return shader != shader_id(trace::ShaderStage::Callable, 1) && shader != shader_id(trace::ShaderStage::AnyHit, 1);
}

/// The sites of the module of a shader; those of ray-generation shaders do not fit a byte.
[[nodiscard]] inline std::uint32_t access_sites(std::uint16_t shader) {
  return shader % 6 == 0 ? 400 : 9;
}
/// Of three sites the first is of one shader of its stage, the second of both, and the third of the other one.
[[nodiscard]] inline bool has_access_site(std::uint16_t shader, std::uint32_t site) {
  return site % 3 != (shader < 6 ? 2U : 0U);
}
[[nodiscard]] inline trace::AccessSpace space_of_site(std::uint32_t site) {
  return static_cast<trace::AccessSpace>(site / 2 % trace::kAccessSpaces);
}
[[nodiscard]] inline trace::AccessKind kind_of_site(std::uint32_t site) {
  const bool image = space_of_site(site) == trace::AccessSpace::Image;
  return image && site % 5 != 0 ? trace::AccessKind::Sample : static_cast<trace::AccessKind>(site % 3);
}

/// Gives a thread the program of its ray-generation shader: trace calls, traversals, hits, and what these call.
/// tlas: 0 or 1, the top-level structure of the launch, which has 2 + tlas instances.
void write_program(Thread& thread, const CaptureOptions& options, std::uint32_t tlas, Random& random);

}  // namespace rayreplay::test
