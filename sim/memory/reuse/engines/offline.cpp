// Offline: exact reuse distances of many accesses at once, in parallel.
//
// Contract: exact for calls of any size; efficient for calls of 100,000 accesses and more, which use all threads. A
// call is processed in pieces of 2^22 accesses, in three steps. (1) Accesses are distributed to tables by page of line,
// in order; every table finds its lines' last accesses. (2) Each slice of the piece lists the slots of time that its
// accesses free. Together with the slots that earlier slices free and take, this gives the live slots at the start of
// every slice. (3) Each slice counts as the bitmap engine does. No step depends on the number of threads. O(1) work an
// access, 2.5 to 3 times the bitmap engine's; memory: that of the bitmap engine, 8 bytes for each access of a piece and
// a bit for every slot and slice (256 MB at most). Source: the formula d(i) = i − prev(i) − 1 − #{j < i : prev(j) >
// prev(i)}; slices as in Niu et al., "PARDA", IPDPS 2012, but exact without passing misses from slice to slice.
#include <algorithm>
#include <array>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "sim/memory/reuse/engines/line_table.hpp"
#include "sim/memory/reuse/engines/slot_rank.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"

namespace rayreplay::memory {
namespace {

namespace tbb = oneapi::tbb;

constexpr unsigned kShardBits = 6;
constexpr std::size_t kShards = std::size_t{1} << kShardBits;
constexpr std::size_t kPiece = std::size_t{1} << 22U;
constexpr std::size_t kSlice = std::size_t{1}
                               << 16U;  ///< accesses, at least, because each slice costs a pass over the slots
constexpr std::size_t kMaxSlices = 32;
constexpr std::uint64_t kSliceBits = std::uint64_t{1} << 31U;  ///< over all slices: slots times slices
constexpr std::size_t kDealt = std::size_t{1} << 15U;          ///< accesses of one distribution task
constexpr std::size_t kGathered = 1024;                        ///< accesses of a shard in one table call
constexpr std::size_t kFewAccesses = 4096;                     ///< too few to distribute
constexpr std::uint64_t kMaxLines = SlotRank::kMaxSlots / 2;

class OfflineStack final : public ReuseStack {
 public:
  void distances(std::span<const std::uint64_t> lines, std::span<std::uint32_t> out) override {
    while (!lines.empty()) {
      const std::size_t n = std::min(lines.size(), kPiece);
      piece(lines.first(n), out.first(n));
      lines = lines.subspan(n);
      out = out.subspan(n);
    }
  }
  [[nodiscard]] std::uint64_t live_lines() const override {
    return slots_.live();
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override {
    std::uint64_t sum =
        slots_.memory_bytes() + previous_.capacity() * sizeof(previous_[0]) + numbers_.capacity() * sizeof(numbers_[0]);
    for (const LineTable& table : tables_) {
      sum += table.memory_bytes();
    }
    return sum;
  }

 private:
  static std::size_t shard_of(std::uint64_t line) {
    return static_cast<std::size_t>(line / LineTable::kPageLines * kSplitMixGamma >> (64U - kShardBits));
  }

  void piece(std::span<const std::uint64_t> lines, std::span<std::uint32_t> out) {
    if (lines.size() > slots_.capacity() - slots_.now()) {
      renumber(lines.size());
    }
    previous_.resize(lines.size());
    if (lines.size() <= kFewAccesses) {
      std::uint32_t number = slots_.now();
      for (std::size_t i = 0; i < lines.size(); ++i) {
        std::uint32_t& last = tables_[shard_of(lines[i])].at(lines[i]);
        previous_[i] = last;
        last = ++number;
      }
    } else {
      find_previous(lines);
    }
    const std::size_t slices =
        std::min({kMaxSlices, lines.size() / kSlice, static_cast<std::size_t>(kSliceBits / slots_.capacity())});
    if (slices < 2) {
      slots_.distances(previous_, out.data());
    } else {
      count_in_slices(slices, out);
    }
  }

  void find_previous(std::span<const std::uint64_t> lines) {
    const std::size_t size = lines.size();
    const std::size_t tasks = (size + kDealt - 1) / kDealt;
    // Where each task's accesses of each shard go: ordered by shard, then by task.
    std::vector<std::array<std::uint32_t, kShards>> places(tasks);
    tbb::parallel_for(std::size_t{0}, tasks, [&](std::size_t task) {
      std::array<std::uint32_t, kShards> count{};
      for (std::size_t i = task * kDealt; i < std::min(size, (task + 1) * kDealt); ++i) {
        ++count[shard_of(lines[i])];
      }
      places[task] = count;
    });
    std::array<std::uint32_t, kShards + 1> starts{};
    std::uint32_t place = 0;
    for (std::size_t shard = 0; shard < kShards; ++shard) {
      starts[shard] = place;
      for (auto& task : places) {
        const std::uint32_t count = task[shard];
        task[shard] = place;
        place += count;
      }
    }
    starts[kShards] = place;
    numbers_.resize(size);
    const std::uint32_t first = slots_.now() + 1;
    tbb::parallel_for(std::size_t{0}, tasks, [&](std::size_t task) {
      std::array<std::uint32_t, kShards>& to = places[task];
      for (std::size_t i = task * kDealt; i < std::min(size, (task + 1) * kDealt); ++i) {
        const std::uint32_t at = to[shard_of(lines[i])]++;
        numbers_[at] = first + static_cast<std::uint32_t>(i);
      }
    });
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, kShards, 1),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        for (std::size_t shard = range.begin(); shard < range.end(); ++shard) {
                          const std::span<const std::uint32_t> numbers =
                              std::span(numbers_).subspan(starts[shard], starts[shard + 1] - starts[shard]);
                          find_in_shard(tables_[shard], lines, numbers, first);
                        }
                      });
  }

  /// `numbers`: first + the shard's accesses, ascending.
  void find_in_shard(LineTable& table, std::span<const std::uint64_t> lines, std::span<const std::uint32_t> numbers,
                     std::uint32_t first) {
    std::array<std::uint64_t, kGathered> gathered;
    std::array<std::uint32_t, kGathered> before;
    while (!numbers.empty()) {
      const std::size_t n = std::min(numbers.size(), kGathered);
      for (std::size_t i = 0; i < n; ++i) {
        gathered[i] = lines[numbers[i] - first];
      }
      table.exchange(std::span(gathered).first(n), numbers.data(), before.data());
      for (std::size_t i = 0; i < n; ++i) {
        previous_[numbers[i] - first] = before[i];
      }
      numbers = numbers.subspan(n);
    }
  }

  void count_in_slices(std::size_t slices, std::span<std::uint32_t> out) {
    const std::size_t size = previous_.size();
    const std::uint32_t now = slots_.now();
    const std::size_t words = slots_.words().size();
    const auto start_of = [&](std::size_t slice) { return size * slice / slices; };
    // leaves[s]: slots that slices before s + 1 free; the last slice's are never needed
    std::vector<std::vector<std::uint64_t>> leaves(slices - 1);
    tbb::parallel_for(std::size_t{0}, slices - 1, [&](std::size_t slice) {
      std::vector<std::uint64_t>& bits = leaves[slice];
      bits.assign(words, 0);
      for (std::size_t i = start_of(slice); i < start_of(slice + 1); ++i) {
        if (previous_[i] != 0) {
          const std::uint32_t slot = previous_[i] - 1;
          bits[slot >> 6U] |= std::uint64_t{1} << (slot & 63U);
        }
      }
    });
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, words, 4096),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        for (std::size_t slice = 1; slice + 1 < slices; ++slice) {
                          for (std::size_t word = range.begin(); word < range.end(); ++word) {
                            leaves[slice][word] |= leaves[slice - 1][word];
                          }
                        }
                      });
    const std::uint64_t* const live = slots_.words().data();
    SlotRank last(1);
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, slices, 1), [&](const tbb::blocked_range<std::size_t>& range) {
      for (std::size_t slice = range.begin(); slice < range.end(); ++slice) {
        const std::size_t begin = start_of(slice);
        const std::size_t end = start_of(slice + 1);
        SlotRank slots(slots_.capacity());
        std::uint64_t* const bits = slots.words().data();
        std::copy_n(live, words, bits);
        take(bits, now, now + static_cast<std::uint32_t>(begin));
        if (slice > 0) {
          const std::uint64_t* const left = leaves[slice - 1].data();
          for (std::size_t word = 0; word < words; ++word) {
            bits[word] &= ~left[word];
          }
        }
        slots.recount(now + static_cast<std::uint32_t>(begin));
        slots.distances(std::span(previous_).subspan(begin, end - begin), out.data() + begin);
        if (slice + 1 == slices) {
          last = std::move(slots);
        }
      }
    });
    slots_ = std::move(last);
  }

  /// Sets the bits [begin, end).
  static void take(std::uint64_t* bits, std::uint32_t begin, std::uint32_t end) {
    while (begin < end) {
      const std::uint32_t stop = std::min(end, (begin | 63U) + 1);
      const std::uint64_t ones = stop - begin == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (stop - begin)) - 1;
      bits[begin >> 6U] |= ones << (begin & 63U);
      begin = stop;
    }
  }

  void renumber(std::size_t wanted) {
    const std::uint64_t live = slots_.live();
    if (live > kMaxLines) {
      throw Error(ErrorKind::Resource, {"too many different lines for the reuse engine 'offline'", "", "more than 2^30",
                                        "at most 2^30", "use larger lines or the engine 'sampled'"});
    }
    const auto renumbering = slots_.renumbering();
    tbb::parallel_for(std::size_t{0}, kShards, [&](std::size_t shard) { tables_[shard].for_each_number(renumbering); });
    if (std::max(4 * live, live + wanted) > slots_.capacity()) {
      slots_ = SlotRank(std::max(8 * live, 2 * (live + wanted)));
    }
    slots_.restart(live);
  }

  std::array<LineTable, kShards> tables_;
  SlotRank slots_{std::uint64_t{1} << 16U};
  std::vector<std::uint32_t> previous_;  ///< slots of the last accesses, plus one
  std::vector<std::uint32_t> numbers_;   ///< slots of the accesses, plus one: by shard, then in order
};

class Offline final : public ReuseEngine {
 public:
  [[nodiscard]] std::unique_ptr<ReuseStack> make() const override {
    return std::make_unique<OfflineStack>();
  }
};

const ReuseEngines::Registrar kRegistrar(
    {.kind = {},
     .name = "offline",
     .summary = "Exact, all threads on one stack: for calls of many accesses",
     .text =
         "Accesses are dealt out to 64 tables by line, which find the last accesses in parallel; slices of the stream "
         "are then counted in parallel, each from the slots of time that are live at its start. The same for any "
         "number of threads and calls of any size, but fast only from some 100,000 accesses a call on. O(1) an "
         "access, about 2.5 times the work of the bitmap engine.",
     .source = "slices: Niu et al., \"PARDA\", IPDPS 2012; their starting states: rayreplay",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Offline>(); });

}  // namespace
}  // namespace rayreplay::memory
