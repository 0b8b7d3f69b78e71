#include "sim/workloads/workload.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace rayreplay::workloads {
namespace {

/// Of a quotient of whole numbers that two programs form in different ways.
constexpr double kRounding = 1e-12;

[[noreturn]] void other_kind(const char* asked) {
  throw Error(ErrorKind::Internal, {fmt::format("the workload is no {}", asked), "", "", "is_memory() is asked", ""});
}

}  // namespace

trace::Trace Workload::make_trace() const {
  other_kind("trace");
}

MemoryWorkload Workload::make_memory() const {
  other_kind("stream of memory instructions");
}

bool agrees(const KnownAnswer& known, double found) {
  const double slack = std::max(known.tolerance, kRounding * std::abs(known.value));
  if (known.relation == Relation::AtMost) {
    return found <= known.value + slack;
  }
  return std::abs(found - known.value) <= slack;
}

std::string workload_hash(std::string_view spec) {
  const Workloads::Created created = Workloads::create(spec);
  const std::string text = fmt::format("workload\n{}\n{}", created.spec, created.model->version());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(text.data(), text.size()));
  std::array<unsigned char, sizeof(canonical)> digest{};
  std::memcpy(digest.data(), &canonical, sizeof(canonical));
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace rayreplay::workloads
