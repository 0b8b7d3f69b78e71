// The work of a warp between its memory instructions: traversal tests, rays in flight, shader instructions.
//
// Contract: a stream with n instructions has n + 1 rows of work, one before each instruction and one after the last;
// or none (only the accesses are wanted). The parts of a row come in the order of its members: the tests of the last
// traversal step, the end of traversals, shader instructions, the begin of traversals. A row that `follows` is empty
// otherwise: its instruction does not depend on the one before, and issues without waiting for that one's data. An
// instruction that does not follow, and those after it that do, are a *clause*; it belongs to one stage. Work says
// what is done, the machine how long it takes (sim/machine/interleave.hpp).
#pragma once

#include <cstdint>

#include "sim/memory/streams/work_stage.hpp"

namespace rayreplay::memory {

/// Shader instructions are in units of 1 / kIssueScale, so that mean costs keep their fraction.
inline constexpr std::uint32_t kIssueScale = 256;

/// The stages of a row, in one byte.
class RowStages {
 public:
  constexpr RowStages() = default;
  constexpr RowStages(WorkStage shader, WorkStage access)
      : bits_(static_cast<std::uint8_t>(static_cast<unsigned>(shader) << 4U | static_cast<unsigned>(access))) {}

  /// Of the shader instructions.
  [[nodiscard]] constexpr WorkStage shader() const {
    return static_cast<WorkStage>(bits_ >> 4U);
  }
  /// Of the memory instruction after the row.
  [[nodiscard]] constexpr WorkStage access() const {
    return static_cast<WorkStage>(bits_ & 15U);
  }
  constexpr bool operator==(const RowStages&) const = default;

 private:
  std::uint8_t bits_ = 0;
};

struct WarpWork {
  std::uint16_t visits = 0;      ///< nodes and leaves entered, summed over lanes
  std::uint16_t boxes = 0;       ///< child boxes of nodes, tested
  std::uint16_t triangles = 0;   ///< contents of leaves, tested: triangles, other primitives, instances
  std::uint16_t rays_end = 0;    ///< rays that leave the ray-tracing unit
  std::uint32_t issue = 0;       ///< shader instructions of the warp · kIssueScale
  std::uint32_t latency = 0;     ///< cycles that these instructions take when no other warp runs
  std::uint16_t rays_begin = 0;  ///< rays that enter the ray-tracing unit
  bool follows = false;
  RowStages stages{};

  bool operator==(const WarpWork&) const = default;
};
static_assert(sizeof(WarpWork) == 20);

/// Calls of shaders and trace calls. The lanes of a warp that make the same call together are one call.
struct WarpCalls {
  std::uint64_t calls = 0;
  std::uint64_t lanes = 0;  ///< that make them, summed over calls

  void add(const WarpCalls& other) {
    calls += other.calls;
    lanes += other.lanes;
  }
  bool operator==(const WarpCalls&) const = default;
};

}  // namespace rayreplay::memory
