#include "sim/workloads/workload.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rayreplay::workloads {
namespace {

/// Rounding of a quotient of whole numbers, computed in two different ways.
constexpr double kRounding = 1e-12;

[[noreturn]] void other_kind(const char* asked) {
  throw Error(ErrorKind::Internal, {fmt::format("the workload is no {}", asked), "", "", "kind() is asked", ""});
}

}  // namespace

trace::Trace Workload::make_trace() const {
  other_kind("trace");
}

MemoryWorkload Workload::make_memory() const {
  other_kind("stream of memory instructions");
}

WarpWorkload Workload::make_warps(const machine::Machine& /*machine*/) const {
  other_kind("set of warps");
}

bool agrees(const KnownAnswer& known, double found) {
  const double slack = std::max(known.tolerance, kRounding * std::abs(known.value));
  if (known.relation == Relation::AtMost) {
    return found <= known.value + slack;
  }
  return std::abs(found - known.value) <= slack;
}

}  // namespace rayreplay::workloads
