#include "sim/sweep/workers/memory_budget.hpp"

#include <algorithm>
#include <limits>

namespace rayreplay::sweep {
namespace {

/// Forecasts are estimates: a sum that would overflow is as good as the largest number.
std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

}  // namespace

std::uint64_t Need::bytes() const {
  std::uint64_t sum = own;
  for (const auto& [key, bytes] : shared) {
    sum = add(sum, bytes);
  }
  return sum;
}

void Need::join(const Need& other) {
  own = std::max(own, other.own);
  for (const auto& [key, bytes] : other.shared) {
    std::uint64_t& mine = shared[key];
    mine = std::max(mine, bytes);
  }
}

Need need_of(std::span<const experiment::StageForecast> stages) {
  Need need;
  for (const experiment::StageForecast& stage : stages) {
    if (stage.result_bytes > 0) {
      need.shared[stage.key] = stage.result_bytes;
    }
    need.own = std::max(need.own, stage.memory_bytes - stage.result_bytes);
  }
  return need;
}

bool MemoryBudget::fits(const Need& need) const {
  if (bytes_ == 0) {
    return true;
  }
  std::uint64_t sum = add(in_use_, need.own);
  for (const auto& [key, bytes] : need.shared) {
    if (!shared_.contains(key)) {
      sum = add(sum, bytes);
    }
  }
  return sum <= bytes_;
}

void MemoryBudget::take(const Need& need) {
  in_use_ += need.own;
  for (const auto& [key, bytes] : need.shared) {
    Shared& shared = shared_[key];
    if (shared.users++ == 0) {
      shared.bytes = bytes;
      in_use_ += bytes;
    }
  }
}

void MemoryBudget::give_back(const Need& need) {
  in_use_ -= need.own;
  for (const auto& [key, bytes] : need.shared) {
    const auto it = shared_.find(key);
    if (--it->second.users == 0) {
      in_use_ -= it->second.bytes;
      shared_.erase(it);
    }
  }
}

}  // namespace rayreplay::sweep
