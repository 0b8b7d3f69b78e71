#include "sim/comparison/address_score.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_reduce.h>

#include "sim/simt/warp_recorder.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::size_t kWarpsOfAddresses = 256;

/// A set of lines with their sectors, for one warp event after another: open addressing, and a slot of an earlier event
/// is free.
class TouchedLines {
 public:
  struct Added {
    bool is_new_key = false, is_new_bit = false;
  };

  /// Room for that many keys.
  void clear(std::size_t keys) {
    if (2 * keys > slots_.size()) {
      slots_.assign(std::bit_ceil(2 * keys), {});
      shift_ = 64U - static_cast<std::uint32_t>(std::countr_zero(slots_.size()));
      epoch_ = 0;
    }
    if (++epoch_ == 0) {  // wrapped around
      std::ranges::fill(slots_, Slot{});
      epoch_ = 1;
    }
  }
  Added add(std::uint64_t key, std::uint32_t bit) {
    std::size_t at = key * 0x9E37'79B9'7F4A'7C15U >> shift_;
    while (slots_[at].epoch == epoch_ && slots_[at].key != key) {
      at = (at + 1) & (slots_.size() - 1);
    }
    Slot& slot = slots_[at];
    if (slot.epoch != epoch_) {
      slot = {key, epoch_, bit};
      return {true, true};
    }
    const bool is_new_bit = (slot.bits & bit) == 0;
    slot.bits |= bit;
    return {false, is_new_bit};
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t epoch = 0;  ///< 0: never used
    std::uint32_t bits = 0;
  };
  std::vector<Slot> slots_;
  std::uint32_t shift_ = 64;
  std::uint32_t epoch_ = 0;
};

/// The counts of one warp after another.
class WarpCounter {
 public:
  WarpCounter(const trace::Trace& trace, const trace::Launch& launch, const scheduler::Segments& segments,
              const CallAddresses& addresses, simt::Policy policy, std::uint32_t warp_size)
      : events_(launch.data.events),
        segments_(segments),
        addresses_(addresses),
        recorder_(launch, trace.shaders, segments.event_offset, warp_size, policy),
        next_(warp_size) {}

  AddressCounts count(std::span<const std::uint32_t> segment_at) {
    counts_ = {};
    std::size_t entries = 0;
    for (std::size_t lane = 0; lane < segment_at.size(); ++lane) {
      if (segment_at[lane] != scheduler::kNoSegment) {
        next_[lane] = segments_.event_offset[segment_at[lane]];
        entries += addresses_.of_segment(segment_at[lane]).size();
      }
    }
    if (entries == 0) {
      return counts_;
    }
    bool entered = false;
    for (const simt::WarpEvent& event : recorder_.record(segment_at)) {
      for (std::uint64_t left = event.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        std::uint64_t& row = next_[lane];
        while (!trace::is_warp_event(events_.kind[row])) {
          ++row;
        }
        gather(addresses_.of_event(segment_at[lane], row++));
      }
      if (!entered && trace::begins_ray(event.kind)) {
        entered = true;
        gather_all(segment_at, &CallAddresses::at_entry);
      }
      add_gathered();
    }
    if (!entered) {
      gather_all(segment_at, &CallAddresses::at_entry);
      add_gathered();
    }
    gather_all(segment_at, &CallAddresses::at_end);
    add_gathered();
    return counts_;
  }

 private:
  /// This list of all lanes.
  void gather_all(std::span<const std::uint32_t> segment_at,
                  std::span<const TouchedSector> (CallAddresses::*list)(std::uint32_t) const) {
    for (const std::uint32_t segment : segment_at) {
      if (segment != scheduler::kNoSegment) {
        gather((addresses_.*list)(segment));
      }
    }
  }
  void gather(std::span<const TouchedSector> list) {
    if (!list.empty()) {
      gathered_.push_back(list);
      size_ += list.size();
    }
  }

  /// Counts what lanes touch together.
  void add_gathered() {
    if (size_ > 0) {
      table_.clear(2 * size_);
    }
    const std::uint32_t shift = addresses_.line_shift();
    for (const std::span<const TouchedSector> list : gathered_) {
      TouchedSector before = ~TouchedSector{0};
      for (const TouchedSector one : list) {
        const std::uint64_t instruction = one >> 32U << 32U;
        const auto sector = sector_of(one);
        const std::uint64_t line = instruction | sector >> shift;
        const TouchedLines::Added added = table_.add(line, 1U << (sector & ((1U << shift) - 1U)));
        counts_.transactions += added.is_new_key ? 1U : 0U;
        counts_.sectors += added.is_new_bit ? 1U : 0U;
        if (added.is_new_key && instruction != before) {
          counts_.instructions += table_.add(instruction | kInstruction, 1).is_new_key ? 1U : 0U;
          before = instruction;
        }
      }
    }
    gathered_.clear();
    size_ = 0;
  }

  /// In place of a line: the instruction itself. No sector has this number (call_addresses.hpp).
  static constexpr std::uint64_t kInstruction = 0xFFFF'FFFFU;

  const trace::Events& events_;
  const scheduler::Segments& segments_;
  const CallAddresses& addresses_;
  simt::WarpRecorder recorder_;
  std::vector<std::uint64_t> next_;  ///< by lane: row of its next event
  std::vector<std::span<const TouchedSector>> gathered_;
  std::size_t size_ = 0;  ///< of all gathered lists
  TouchedLines table_;
  AddressCounts counts_;
};

}  // namespace

AddressCounts& AddressCounts::operator+=(const AddressCounts& other) {
  instructions += other.instructions;
  transactions += other.transactions;
  sectors += other.sectors;
  return *this;
}

AddressCounts AddressScore::count(std::span<const std::uint32_t> segment_at, std::uint32_t warp_size) const {
  oneapi::tbb::enumerable_thread_specific<WarpCounter> counters(
      [&] { return WarpCounter(trace_, launch_, segments_, addresses_, policy_, warp_size); });
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  return oneapi::tbb::parallel_reduce(
      Range(0, segment_at.size() / warp_size, kWarpsOfAddresses), AddressCounts{},
      [&](const Range& range, AddressCounts sum) {
        WarpCounter& counter = counters.local();
        for (std::size_t warp = range.begin(); warp < range.end(); ++warp) {
          sum += counter.count(segment_at.subspan(warp * warp_size, warp_size));
        }
        return sum;
      },
      [](AddressCounts a, const AddressCounts& b) { return a += b; });
}

}  // namespace rayreplay::experiment
