// Separate triangles, each with its own closest-hit shader, for workloads that decide which lane calls which shader.
// Internal to this folder.
//
// Contract: `add` all targets first; then `hit` appends one ray and its closest hit to the maker's open thread
// (trace_maker.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "sim/workloads/trace_maker.hpp"

namespace rayreplay::workloads {

class Targets {
 public:
  /// Adds the ray generation shader; the maker must have no other shaders or instances and must outlive this object.
  explicit Targets(TraceMaker& maker);

  /// Adds a target, with the names of its shader and its mesh.
  void add(const std::string& shader, const std::string& mesh);
  /// Targets "target i" with shaders "hit-i".
  void add_numbered(std::uint32_t count);

  /// Adds a ray of the maker's open thread straight at a target, and its hit.
  void hit(std::uint32_t target);

 private:
  TraceMaker* maker_;
  std::uint16_t caller_;
  std::uint32_t count_ = 0;
};

}  // namespace rayreplay::workloads
