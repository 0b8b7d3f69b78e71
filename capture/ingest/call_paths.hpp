// The paths of a process's shader calls, from the records of paths. Internal to this room.
//
// Contract: `add` takes every record of every launch, in any order; `finish` derives the blocks' counts of each path
// (derived_counts.hpp) and numbers the paths by shader and counts, so that the numbers do not depend on the order in
// which the device ran them. Records that do not fit their shader, or whose counts contradict each other, have no path,
// with a line in `remarks`. At most kMostNumbers counters are kept; calls with further paths have none, and a line in
// `remarks` says so. `path_of` is thread-safe behind `finish`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/block_counts/derived_counts.hpp"
#include "capture/ingest/chunk.hpp"
#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

class CallPaths {
 public:
  /// 1 GiB of counters.
  static constexpr std::uint64_t kMostNumbers = std::uint64_t{1} << 28;

  CallPaths(const SpoolContents& contents, std::vector<std::string>& remarks, std::uint64_t most = kMostNumbers);

  /// Whether the calls of a shader record paths.
  [[nodiscard]] bool has(std::uint16_t shader) const {
    return shaders_.contains(shader);
  }
  [[nodiscard]] bool empty() const {
    return shaders_.empty();
  }
  void add(const Chunk& chunk);
  void finish();
  /// The row of the path + 1; 0: none. `scratch` is the caller's.
  [[nodiscard]] std::uint32_t path_of(const Chunk& chunk, std::uint32_t rank,
                                      std::vector<std::uint32_t>& scratch) const;
  /// All paths, with no calls.
  [[nodiscard]] const trace::Paths& paths() const {
    return paths_;
  }

 private:
  using Counters = std::vector<std::uint32_t>;
  struct Hash {
    std::size_t operator()(const Counters& counters) const;
  };
  /// A counted function of a module.
  struct Function {
    std::uint32_t number = 0;
    spirv::ControlFlow flow;
    std::vector<bool> may_end;
    std::vector<block_counts::CounterSite> sites;
  };
  struct Shader {
    std::vector<std::shared_ptr<const Function>> functions;  ///< that it reaches, in the order of the record
    std::uint32_t counters = 0;
    std::unordered_map<Counters, std::uint32_t, Hash> known;  ///< the path's row + 1
  };

  void add_module(const SpoolContents& contents, const spool::Paths& layout);
  /// Whether a record fits the shader; then its counters are in `counters`.
  [[nodiscard]] static bool read(const Shader& shader, const Chunk& chunk, std::uint32_t rank, Counters& counters);
  /// The executions of the shader's blocks, or why there are none.
  [[nodiscard]] static std::optional<Counters> blocks_of(const Shader& shader, const Counters& counters,
                                                         std::string& fault);
  void finish(std::uint16_t id, Shader& shader);

  std::vector<std::string>& remarks_;
  std::uint64_t most_, numbers_ = 0;
  std::uint64_t unfit_ = 0, beyond_ = 0;  ///< records
  std::map<std::uint16_t, Shader> shaders_;
  Counters scratch_;
  trace::Paths paths_;
};

}  // namespace rayreplay::ingest
