#include "capture/layer/timestamps.hpp"

#include <array>

#include "capture/layer/device/device.hpp"

namespace rayreplay::layer {
namespace {

constexpr std::uint32_t kPairsPerPool = 256;

}  // namespace

Timestamps::~Timestamps() {
  for (auto* pool : pools_) {
    device_.vk.DestroyQueryPool(device_.handle, pool, nullptr);
  }
}

std::optional<TimestampPair> Timestamps::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) {
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 2 * kPairsPerPool;
    VkQueryPool pool = VK_NULL_HANDLE;
    // Memory for all pairs, so that freeing one does not allocate.
    pools_.reserve(pools_.size() + 1);
    free_.reserve((pools_.size() + 1) * kPairsPerPool);
    if (device_.vk.CreateQueryPool(device_.handle, &info, nullptr, &pool) != VK_SUCCESS) {
      return std::nullopt;
    }
    pools_.push_back(pool);
    for (std::uint32_t i = kPairsPerPool; i-- > 0;) {
      free_.push_back({pool, 2 * i});
    }
  }
  const auto pair = free_.back();
  free_.pop_back();
  return pair;
}

void Timestamps::give_back(const TimestampPair& pair) noexcept {
  const std::scoped_lock lock(mutex_);
  free_.push_back(pair);
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> Timestamps::read(const TimestampPair& pair,
                                                                        std::uint32_t valid_bits) const {
  std::array<std::uint64_t, 2> ticks{};
  if (device_.vk.GetQueryPoolResults(device_.handle, pair.pool, pair.first, 2, sizeof(ticks), ticks.data(),
                                     sizeof(ticks[0]), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
    return std::nullopt;
  }
  const auto mask = valid_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits) - 1;
  const auto period = static_cast<double>(device_.properties.limits.timestampPeriod);
  const auto ns = [&](std::uint64_t value) {
    // A period of 1 stays in integers: large values would lose precision in floating point.
    return period == 1.0 ? value : static_cast<std::uint64_t>(static_cast<double>(value) * period);
  };
  const auto begin = ticks[0] & mask;
  const auto length = (ticks[1] - ticks[0]) & mask;  // correct across a wrap of the counter
  return std::pair(ns(begin), ns(begin) + ns(length));
}

}  // namespace rayreplay::layer
