#include "sim/caching/allocation_traffic.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/split_mix.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint64_t kBits = 64;

}  // namespace

AllocationTraffic::AllocationTraffic(const memory::Allocations& allocations, std::uint32_t warp_size)
    : allocations_(&allocations),
      warp_size_(warp_size),
      uses_(allocations.rows().size()),
      stored_(allocations.rows().size()),
      storer_(allocations.rows().size()) {}

void AllocationTraffic::add(const import::RecordBlock& records) {
  for (std::size_t row = 0; row < records.records(); ++row) {
    const std::uint64_t key = std::uint64_t{records.sm[row]} << 32U | records.warp[row];
    auto found = warps_.find(key);
    if (found == warps_.end()) {
      if (warps_.size() == kWarps) {
        forget();
      }
      found = warps_.emplace(key, Warp(warp_size_)).first;
    }
    const auto warp = static_cast<std::uint32_t>(split_mix(key, 0) >> 32U) | 1U;
    std::uint64_t left = records.mask[row];
    for (std::uint32_t place = records.first[row]; left != 0; ++place, left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      add_lane(found->second[lane], {lane, warp, records.address[place], records.bytes[row], records.store[row] != 0});
    }
  }
}

std::vector<AllocationUse> AllocationTraffic::finish() {
  forget();
  return std::move(uses_);
}

void AllocationTraffic::add_lane(Lane& lane, const Access& access) {
  const std::uint32_t index = allocations_->find(access.address, cursor_);
  if (index == memory::kNoAllocation) {
    end_piece(lane);
    lane = {};
    return;
  }
  AllocationUse& use = uses_[index];
  const std::uint64_t offset = access.address - allocations_->rows()[index].start;
  const bool store = access.store;
  ++(store ? use.stores : use.loads);
  ++use.sizes[access.bytes];
  mark(index, offset, access);
  if (lane.allocation != index) {
    ++use.entered;
    if (lane.allocation != memory::kNoAllocation) {
      ++use.from[lane.allocation];
      ++uses_[lane.allocation].to[index];
    }
  } else if (!store && !lane.store) {
    ++use.followed_loads;
  }
  if (lane.allocation == index && lane.store == store && access.address == lane.end) {
    lane.end += access.bytes;
  } else {
    end_piece(lane);
    lane = {index, store, access.address, access.address + access.bytes};
  }
}

void AllocationTraffic::mark(std::uint32_t index, std::uint64_t offset, const Access& access) {
  AllocationUse& use = uses_[index];
  const bool is_word = access.bytes == kWordBytes && offset % kWordBytes == 0;
  const std::uint64_t word = offset / kWordBytes;
  use.own_lane += is_word && word % warp_size_ == access.lane ? 1U : 0U;
  if (!access.store) {
    std::vector<std::uint32_t>& storer = storer_[index];
    if (is_word && word < storer.size() && storer[word] != 0) {
      ++use.word_loads;
      use.moved_loads += storer[word] != access.warp ? 1U : 0U;
    }
    return;
  }
  if (offset >= kMarkedBytes) {
    ++use.repeated_stores;
    return;
  }
  std::vector<std::uint64_t>& stored = stored_[index];
  stored.resize(std::max(stored.size(), static_cast<std::size_t>(offset / kBits + 1)));
  const std::uint64_t bit = std::uint64_t{1} << (offset % kBits);
  use.repeated_stores += (stored[offset / kBits] & bit) != 0 ? 1U : 0U;
  stored[offset / kBits] |= bit;
  if (is_word) {
    std::vector<std::uint32_t>& storer = storer_[index];
    storer.resize(std::max(storer.size(), static_cast<std::size_t>(word + 1)));
    storer[word] = access.warp;
  }
}

void AllocationTraffic::end_piece(const Lane& lane) {
  if (lane.allocation != memory::kNoAllocation) {
    ++uses_[lane.allocation].pieces[lane.end - lane.begin];
  }
}

void AllocationTraffic::forget() {
  for (const auto& [key, warp] : warps_) {
    for (const Lane& lane : warp) {
      end_piece(lane);
    }
  }
  warps_.clear();
}

}  // namespace rayreplay::experiment
