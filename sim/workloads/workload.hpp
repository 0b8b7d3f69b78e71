// Synthetic workloads with known answers: microbenchmarks of the models themselves.
//
// Contract: a generator makes a trace (rays, events, scene), a stream of memory instructions, or warps with work from
// its parameters, deterministically. `answers` lists metrics (sim/settings/metrics.hpp) whose values follow from the
// parameters by a closed form or by construction, with the required settings and the reason. One generator a .cpp file
// in sim/workloads/generators/; every parameter can be an axis of a sweep ("workload:degree"). The version is part of
// hashes: increase it when the same parameters give a different result. Traces are one launch of a single row of
// threads, so that warp w has the threads from w · warp_size on under all of rayreplay's launch orders. Workloads above
// the limits below are Usage errors that name the parameters.
//
// Workloads of warps are for memory time (docs/memory-time.md). Their warps and their answers depend on the machine: as
// many warps as it holds, lines of its size, latencies and rates in the closed form. An answer that the machine cannot
// give (an L2 hit without an L2) is `unknown`, with the reason.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/registry.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/trace/trace.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::workloads {

/// Limits, so that a typing error does not exhaust time and memory.
inline constexpr std::uint64_t kMaxEvents = std::uint64_t{1} << 26U;     ///< of a trace
inline constexpr std::uint64_t kMaxAddresses = std::uint64_t{1} << 26U;  ///< of a memory workload

/// A memory trace held in memory.
struct MemoryWorkload {
  import::TraceHeader header;
  import::RecordBlock records;  ///< blocks of any length
};

/// Warps with work, one queue of them for each SM of the machine.
struct WarpWorkload {
  memory::CoalesceOptions coalescing;       ///< lines and sectors of the transactions
  std::vector<memory::WarpStream> streams;  ///< with work, by item
  machine::WorkPlan plan;
  std::vector<std::uint32_t> start_delay;  ///< cycles, by item; empty: none
  std::uint32_t resident_warps = 1;        ///< of an SM, unless schedule.resident_warps is set
};

enum class WorkloadKind : std::uint8_t { Rays, Memory, Warps };

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
  std::string unknown{};  ///< why this machine has no such answer; "": it has
};

/// True if the measured value agrees with the known one.
[[nodiscard]] bool agrees(const KnownAnswer& known, double found);

class Workload {
 public:
  static constexpr const char* kModelKind = "workload";
  virtual ~Workload() = default;
  [[nodiscard]] virtual WorkloadKind kind() const {
    return WorkloadKind::Rays;
  }
  /// Internal for the other kinds. Traces satisfy capture/trace/validate.hpp.
  [[nodiscard]] virtual trace::Trace make_trace() const;
  [[nodiscard]] virtual MemoryWorkload make_memory() const;
  [[nodiscard]] virtual WarpWorkload make_warps(const machine::Machine& machine) const;
  /// Only workloads of warps read the machine.
  [[nodiscard]] virtual std::vector<KnownAnswer> answers(const machine::Machine& machine) const = 0;
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
