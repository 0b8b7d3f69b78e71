// One set of many ways: a line's depth is its reuse distance.
//
// Ranks are positions in the list of ways: the rank of a distance is the number of ways that are not above it; the
// caches after that position hold the line. Depths of sectors therefore stay bytes for any number of ways.
#include "sim/memory/caches/lru_grid_pass.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/memory/caches/sector_depths.hpp"
#include "sim/memory/reuse/engines/bitmap_stack.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::size_t kBatch = std::size_t{1} << 12U;

template <bool kWide, bool kDirty>
class DeepPass final : public GridPass {
 public:
  explicit DeepPass(std::span<const std::uint64_t> ways)
      : ways_(ways.begin(), ways.end()), lines_(kBatch), distances_(kBatch), ranks_(kBatch) {}

  std::size_t run(std::span<const GridAccess> accesses, std::uint32_t lines, GridAccess* /*left*/) override {
    sectors_.reserve(lines);
    last_.resize(lines);
    for (std::size_t at = 0; at < accesses.size(); at += kBatch) {
      const std::span<const GridAccess> batch = accesses.subspan(at, std::min(kBatch, accesses.size() - at));
      for (std::size_t i = 0; i < batch.size(); ++i) {
        lines_[i] = batch[i].number;
      }
      stack_.distances(std::span(lines_).first(batch.size()), std::span(distances_).first(batch.size()));
      for (std::size_t i = 0; i < batch.size(); ++i) {
        sectors_.prefetch(batch[i]);
        ranks_[i] = rank_of(distances_[i]);
        last_[batch[i].number] = ++now_;
      }
      for (std::size_t i = 0; i < batch.size(); i += kTogether) {
        const std::size_t size = std::min(kTogether, batch.size() - i);
        sectors_.template touch<false>(batch.subspan(i, size), ranks_.data() + i, nullptr);
      }
      sectors_.settle();
    }
    return 0;
  }

  [[nodiscard]] GridDepths finish(std::span<const std::uint32_t> /*lines*/) override {
    // A line's depth is the number of lines used after it.
    std::vector<std::uint32_t> order(last_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return last_[a] > last_[b]; });
    std::vector<std::uint8_t> depth_of(last_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      depth_of[order[i]] = rank_of(i);
    }
    return sectors_.finish(depth_of);
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

  static constexpr std::size_t kTogether = SectorDepths<kWide, kDirty>::kTogether;

  std::vector<std::uint64_t> ways_;
  BitmapStack stack_;
  SectorDepths<kWide, kDirty> sectors_;
  std::vector<std::uint64_t> last_;  ///< index of the line's last access
  std::uint64_t now_ = 0;
  std::vector<std::uint64_t> lines_;
  std::vector<std::uint32_t> distances_;
  std::vector<std::uint8_t> ranks_;
};

}  // namespace

std::unique_ptr<GridPass> make_deep_pass(std::span<const std::uint64_t> ways, const GridRules& rules) {
  if (rules.wide) {
    return rules.dirty ? std::unique_ptr<GridPass>(std::make_unique<DeepPass<true, true>>(ways))
                       : std::make_unique<DeepPass<true, false>>(ways);
  }
  return rules.dirty ? std::unique_ptr<GridPass>(std::make_unique<DeepPass<false, true>>(ways))
                     : std::make_unique<DeepPass<false, false>>(ways);
}

}  // namespace rayreplay::memory
