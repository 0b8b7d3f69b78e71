// Synthetic workloads with known answers: microbenchmarks of the models themselves.
//
// Contract: a generator makes a trace (rays, events, scene) or a stream of memory instructions from its parameters,
// deterministically. `answers` lists metrics (sim/settings/metrics.hpp) whose values follow from the parameters by a
// closed form or by construction, with the required settings and the reason. One generator a .cpp file in
// sim/workloads/generators/; every parameter can be an axis of a sweep ("workload:degree"). The version is part of
// hashes: increase it when the same parameters give a different result. Traces are one launch of a single row of
// threads, so that warp w has the threads from w · warp_size on under all of rayreplay's launch orders. Workloads above
// the limits below are Usage errors that name the parameters.
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

/// Limits, so that a typing error does not exhaust time and memory.
inline constexpr std::uint64_t kMaxEvents = std::uint64_t{1} << 26U;     ///< of a trace
inline constexpr std::uint64_t kMaxAddresses = std::uint64_t{1} << 26U;  ///< of a memory workload

/// A memory trace held in memory.
struct MemoryWorkload {
  import::TraceHeader header;
  import::RecordBlock records;  ///< blocks of any length
};

enum class Relation : std::uint8_t {
  Equal,   ///< within the tolerance
  AtMost,  ///< an upper bound: the metric is at most value + tolerance
};

struct KnownAnswer {
  std::string metric;
  double value = 0;
  double tolerance = 0;  ///< absolute; 0: exact up to the rounding of a division
  std::string because;   ///< the closed form: "(1/k) of the lanes in each of k events"
  /// Settings under which it holds, besides the workload: KEY, VALUE.
  std::vector<std::pair<std::string, std::string>> settings{};
  Relation relation = Relation::Equal;
};

/// True if the measured value agrees with the known one.
[[nodiscard]] bool agrees(const KnownAnswer& known, double found);

class Workload {
 public:
  static constexpr const char* kModelKind = "workload";
  virtual ~Workload() = default;
  [[nodiscard]] virtual bool is_memory() const {
    return false;
  }
  /// Internal for the other kind. Traces satisfy capture/trace/validate.hpp.
  [[nodiscard]] virtual trace::Trace make_trace() const;
  [[nodiscard]] virtual MemoryWorkload make_memory() const;
  [[nodiscard]] virtual std::vector<KnownAnswer> answers() const = 0;
  /// Counts the changes that give other traces or other answers.
  [[nodiscard]] virtual std::uint32_t version() const {
    return 1;
  }
  /// Example specs of this generator that cover the range of its answers.
  [[nodiscard]] virtual std::vector<std::string> examples() const {
    return {};
  }
};

using Workloads = Registry<Workload>;

}  // namespace rayreplay::workloads
