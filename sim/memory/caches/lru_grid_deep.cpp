// One set of many ways: how deep a line lies is its reuse distance.
//
// Ranks are places in the list of ways: a distance's rank is the number of ways that are not above it, and the caches
// that hold the line are those behind. So the depths of sectors stay bytes, whatever the ways.
#include "sim/memory/caches/lru_grid_pass.hpp"

#include <algorithm>

#include "base/split_mix.hpp"
#include "sim/memory/caches/sector_depths.hpp"
#include "sim/memory/reuse/engines/bitmap_stack.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::size_t kBatch = std::size_t{1} << 12U;
constexpr std::size_t kAhead = 8;
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

/// What is remembered of a line; the sectors of it that were never touched are at 255.
struct DeepLine {
  std::uint64_t line = kEmpty;
  std::uint64_t sectors = ~std::uint64_t{0};
  std::uint64_t dirty = ~std::uint64_t{0};
  std::uint64_t last = 0;  ///< number of the last access
};

/// Open addressing, at most half full.
class DeepLines {
 public:
  void prefetch(std::uint32_t line) const {
    __builtin_prefetch(&entries_[home(line)], 1);
  }
  DeepLine& of(std::uint32_t line) {
    std::size_t at = place(line);
    if (entries_[at].line == kEmpty) {
      if (2 * (used_ + 1) > entries_.size()) {
        grow();
        at = place(line);
      }
      ++used_;
      entries_[at].line = line;
    }
    return entries_[at];
  }
  [[nodiscard]] std::vector<DeepLine> take() {
    std::erase_if(entries_, [](const DeepLine& entry) { return entry.line == kEmpty; });
    return std::move(entries_);
  }

 private:
  [[nodiscard]] std::size_t home(std::uint64_t line) const {
    return (line * kSplitMixGamma) >> shift_;
  }
  [[nodiscard]] std::size_t place(std::uint64_t line) const {
    std::size_t at = home(line);
    while (entries_[at].line != kEmpty && entries_[at].line != line) {
      at = (at + 1) & (entries_.size() - 1);
    }
    return at;
  }
  void grow() {
    std::vector<DeepLine> old(entries_.size() * 2);
    old.swap(entries_);
    --shift_;
    for (const DeepLine& entry : old) {
      if (entry.line != kEmpty) {
        entries_[place(entry.line)] = entry;
      }
    }
  }

  std::uint32_t shift_ = 64 - 12;
  std::vector<DeepLine> entries_ = std::vector<DeepLine>(std::size_t{1} << 12U);
  std::size_t used_ = 0;
};

class DeepPass final : public GridPass {
 public:
  DeepPass(std::span<const std::uint64_t> ways, const GridRules& rules)
      : ways_(ways.begin(), ways.end()), rules_(rules), lines_(kBatch), distances_(kBatch) {}

  void run(std::span<const GridAccess> accesses, std::vector<GridAccess>* /*left*/) override {
    for (std::size_t at = 0; at < accesses.size(); at += kBatch) {
      const std::span<const GridAccess> batch = accesses.subspan(at, std::min(kBatch, accesses.size() - at));
      for (std::size_t i = 0; i < batch.size(); ++i) {
        lines_[i] = batch[i].line;
      }
      stack_.distances(std::span(lines_).first(batch.size()), std::span(distances_).first(batch.size()));
      if (rules_.sectors || rules_.dirty) {
        remember(batch);
      } else {
        for (std::size_t i = 0; i < batch.size(); ++i) {
          const std::uint8_t rank = rank_of(distances_[i]);
          ++depths_.found[rank];
          ++depths_.whole[rank];
          depths_.filled[rank] += batch[i].store ? 0 : sector_count(batch[i].sectors);
        }
      }
    }
  }

  void finish() override {
    if (!rules_.dirty) {
      return;
    }
    // A line lies as deep as there are lines used after it.
    std::vector<DeepLine> left = table_.take();
    std::sort(left.begin(), left.end(), [](const DeepLine& a, const DeepLine& b) { return a.last > b.last; });
    for (std::size_t i = 0; i < left.size(); ++i) {
      write_dirty(left[i].dirty, rank_of(i), depths_);
    }
  }

  [[nodiscard]] std::uint64_t resident(std::uint64_t ways) const override {
    return std::min(stack_.live_lines(), ways);
  }

 private:
  [[nodiscard]] std::uint8_t rank_of(std::uint64_t distance) const {
    if (distance < ways_.front()) {
      return 0;
    }
    return static_cast<std::uint8_t>(std::upper_bound(ways_.begin(), ways_.end(), distance) - ways_.begin());
  }

  void remember(std::span<const GridAccess> batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      table_.prefetch(batch[std::min(i + kAhead, batch.size() - 1)].line);
      DeepLine& line = table_.of(batch[i].line);
      const std::uint8_t rank = rank_of(distances_[i]);
      ++depths_.found[rank];
      // Sectors of a line that is new are at 255, and so they count.
      touch_sectors(line.sectors, batch[i], rank, depths_);
      if (rules_.dirty) {
        write_dirty(line.dirty, rank, depths_);
        line.dirty &= batch[i].store ? ~kSectorBytes[batch[i].sectors] : ~std::uint64_t{0};
      }
      line.last = ++now_;
    }
  }

  std::vector<std::uint64_t> ways_;
  GridRules rules_;
  BitmapStack stack_;
  DeepLines table_;
  std::uint64_t now_ = 0;
  std::vector<std::uint64_t> lines_;
  std::vector<std::uint32_t> distances_;
};

}  // namespace

std::unique_ptr<GridPass> make_deep_pass(std::span<const std::uint64_t> ways, const GridRules& rules) {
  return std::make_unique<DeepPass>(ways, rules);
}

}  // namespace rayreplay::memory
