// Synthetic workloads whose answers are known: microbenchmarks of the models themselves.
//
// Contract: a generator makes a trace (rays, events, scene), or a stream of memory instructions, from its parameters,
// deterministically; `answers` says which metrics (sim/settings/metrics.hpp) follow from the parameters by a
// closed form or by construction, under which settings, and why. One generator a .cpp file in
// sim/workloads/generators/; every parameter can be an axis of a sweep ("workload:degree"). The version is part of
// hashes: raise it when the same parameters give something else. Traces are one launch of one row of threads, so that
// warp w is the threads from w · warp_size on under every launch order of rayreplay's own. Workloads larger than the
// limits below are Usage errors that name the parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/registry.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::workloads {

/// So that a slip of the pen asks for seconds and not for the machine.
inline constexpr std::uint64_t kMostEvents = std::uint64_t{1} << 26U;     ///< of a trace
inline constexpr std::uint64_t kMostAddresses = std::uint64_t{1} << 26U;  ///< of a memory workload

/// Records of a memory trace held in memory.
struct MemoryWorkload {
  import::TraceHeader header;
  import::RecordBlock records;  ///< of any length
};

enum class Relation : std::uint8_t {
  Equal,   ///< within the tolerance
  AtMost,  ///< a bound: the metric is not above value + tolerance
};

struct KnownAnswer {
  std::string metric;
  double value = 0;
  double tolerance = 0;  ///< absolute; 0: exact but for the rounding of a division
  std::string because;   ///< the closed form: "(1/k) of the lanes in each of k events"
  /// Settings under which it holds, beside the workload: KEY, VALUE.
  std::vector<std::pair<std::string, std::string>> settings{};
  Relation relation = Relation::Equal;
};

/// Whether what was found is what is known.
[[nodiscard]] bool agrees(const KnownAnswer& known, double found);

class Workload {
 public:
  static constexpr const char* kModelKind = "workload";
  virtual ~Workload() = default;
  [[nodiscard]] virtual bool is_memory() const {
    return false;
  }
  /// Internal where it is the other kind. Traces satisfy capture/trace/validate.hpp.
  [[nodiscard]] virtual trace::Trace make_trace() const;
  [[nodiscard]] virtual MemoryWorkload make_memory() const;
  [[nodiscard]] virtual std::vector<KnownAnswer> answers() const = 0;
  [[nodiscard]] virtual std::uint32_t version() const = 0;
  /// Specs of this generator that show the range of its answers, for programs that try all generators.
  [[nodiscard]] virtual std::vector<std::string> examples() const {
    return {};
  }
};

using Workloads = Registry<Workload>;

}  // namespace rayreplay::workloads
