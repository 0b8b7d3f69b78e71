// Sums of paths of shader calls over several runs: one dictionary with the calls of all of them.
//
// Contract: paths of one shader with the same counts are one path; their calls add up. The blocks of a shader must be
// the same in all runs that have it, else all its paths are left out. The sum has no calls, and so not the path of
// each. The sum does not depend on the order of the parts. Errors: Input with the path at which calls exceed 64 bits.
// Linear memory; O(counts · log paths).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "capture/profile/merge_state.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

class PathSums {
 public:
  /// `shaders`: from numbers in `paths` to numbers of the sum.
  void add(const trace::Paths& paths, const std::map<std::uint16_t, std::uint16_t>& shaders, const std::string& file);
  [[nodiscard]] trace::Paths sums() const;
  void add_left_out(std::set<LeftOut>& left_out) const;

 private:
  using Block = std::pair<std::uint32_t, std::uint32_t>;  ///< function, block
  struct ShaderSum {
    std::vector<Block> blocks;
    bool fresh = true, same_blocks = true;
    std::map<std::vector<std::uint32_t>, std::uint64_t> calls;  ///< by counts
  };
  std::map<std::uint16_t, ShaderSum> shaders_;
};

/// `paths` without those of some shaders.
[[nodiscard]] trace::Paths without(const trace::Paths& paths, const std::set<std::uint16_t>& shaders);

}  // namespace rayreplay::profile
