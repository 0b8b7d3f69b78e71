// The record of its runs in a merged profile, with which it can be merged again as if all runs were merged at once.
//
// The state is JSON in the trace's `configuration` (docs/trace-format.md, Merged profiles): the runs with what their
// own headers said and which kinds of counts they had, the runs of each pipeline, and the counts that were left out.
// These must be recorded, because another run may have them: they would come back as a sum of that run alone.
//
// Contract: `state_of` takes a checked profile; a profile that is no merged one is a state of one run. Merged profiles
// with `merged_runs` and no state (older versions wrote them) can be merged, too: their header stands for each of their
// runs. Input names the file whose state is not as written here. `configuration_text` and `difference_lines` depend on
// the state alone, so equal states give equal bytes. O(size of the state · log).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "capture/trace/missing_accesses.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::profile {

/// Counts that a profile can have. Groups: those of blocks.
enum class Kind : std::uint8_t { Blocks = 0, Groups, Branches, Loads, Values, Paths, Accesses };
inline constexpr std::size_t kKinds = 7;

/// A part that a sum leaves out.
enum class Left : std::uint8_t {
  Function = 0,   ///< counts of a function's blocks: pipeline, shader, function
  Branch,         ///< pipeline, shader, function, instruction
  BranchUniform,  ///< how often a branch's lanes agreed; the branch itself is there
  Load,           ///< as Branch
  LoadUniform,    ///< agreement on the loaded value
  LoadAddress,    ///< agreement on the address
  Value,          ///< pipeline, shader, function, instruction, component
  Paths,          ///< all of a shader: 0, shader
  Facts,          ///< of the driver: pipeline
};
inline constexpr std::size_t kLefts = 9;
[[nodiscard]] Kind kind_of(Left left);  ///< the counts that it is a part of; for Facts, a part of none, Blocks

struct LeftOut {
  Left left = Left::Function;
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint32_t function = 0, instruction = 0, component = 0;
  auto operator<=>(const LeftOut&) const = default;
};

inline constexpr std::size_t kFactsName = kKinds;  ///< in place of a kind

struct RunFacts {
  std::string application, device, driver;
  std::set<Kind> kinds;
  std::vector<std::string> not_captured;
  // Of the accesses, where the run has them:
  std::uint64_t access_every = 1;             ///< they are of one thread in this many (access_sample.hpp)
  trace::MissingAccesses missing_accesses{};  ///< lost by the capture, over all launches
  bool operator==(const RunFacts&) const = default;
};

struct MergeState {
  std::map<std::string, RunFacts> runs;                      ///< by hash
  std::map<std::uint32_t, std::set<std::string>> pipelines;  ///< hashes of the runs that have each
  std::set<LeftOut> left_out;
  /// Names of shaders where they are counted in these kinds, or only in the driver's facts (kFactsName), if other than
  /// the shader's own: which names count depends on the kinds that are kept.
  std::map<std::pair<std::uint16_t, std::size_t>, std::string> names;

  /// That all runs have. Accesses: only if all are of one sample of threads and no run lost some, because a sum of
  /// others would be of no set of threads.
  [[nodiscard]] std::set<Kind> kinds() const;
};

/// `pipelines` of a single run: those with rows. `file` stands for the profile in messages.
[[nodiscard]] MergeState state_of(const trace::Profile& profile, const std::string& file);

[[nodiscard]] std::string configuration_text(const MergeState& state);

/// "00a1b2c3": the first digits of a run's hash.
[[nodiscard]] std::string run_name(const std::string& hash);

/// Lines on the differences between the runs, and on the parts that are left out. `shaders`: of the merged profile.
[[nodiscard]] std::vector<std::string> difference_lines(
    const MergeState& state, const std::vector<trace::Shader>& shaders,
    const std::map<std::uint32_t, std::vector<std::uint16_t>>& members);

}  // namespace rayreplay::profile
