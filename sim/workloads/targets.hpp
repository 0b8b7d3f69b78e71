// Triangles that lie apart, each with a closest-hit shader of its own: workloads that say which lane calls which shader
// aim at them. Internal to this room.
#pragma once

#include <cstdint>
#include <string>

#include "sim/workloads/trace_maker.hpp"

namespace rayreplay::workloads {

class Targets {
 public:
  /// Adds the ray generation shader that aims; the maker has no other shaders or instances and outlives this.
  explicit Targets(TraceMaker& maker);

  /// The next target, with the names of its shader and of its mesh.
  void add(const std::string& shader, const std::string& mesh);
  /// Targets "target i" with shaders "hit-i".
  void add_numbered(std::uint32_t count);

  /// A ray of the maker's open thread, straight at a target, and its hit.
  void hit(std::uint32_t target);

 private:
  TraceMaker* maker_;
  std::uint16_t caller_;
  std::uint32_t count_ = 0;
};

}  // namespace rayreplay::workloads
