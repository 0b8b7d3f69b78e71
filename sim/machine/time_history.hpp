// Memory time over time: windows of equal length, with the accesses, misses, bytes and warps of each.
//
// Contract: an interleaving with work reports its events (InterleaveOptions::history); `finish` makes the windows.
// Events may come in any order. Each SM has a *track* for each quantity; events of an SM change its tracks alone. A
// track has at most `most_windows` windows, fewer on machines of many SMs: an event after its last window doubles the
// length of its windows and merges neighbours. So memory is bounded however long the launch takes: kMostCells cells of
// 56 bytes or, where that is more, 16 windows an SM. All numbers are integers, and the sums over windows are exactly
// those of the result: accesses and misses (l1_hits, merged, l2_hits, dram), bytes served, warp-cycles (MemoryTime),
// and the cycles for which misses were outstanding. Bytes count in the window in which their service begins; what
// begins after the launch's end counts in the last window. O(1) an event, amortised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rayreplay::machine {

struct HistoryWindow {
  std::uint64_t accesses = 0;     ///< transactions of loads
  std::uint64_t l1_misses = 0;    ///< those that the L2 or DRAM served
  std::uint64_t l2_misses = 0;    ///< those that DRAM served
  std::uint64_t l2_bytes = 0;     ///< served; of the whole machine only
  std::uint64_t dram_bytes = 0;   ///< as l2_bytes
  std::uint64_t miss_cycles = 0;  ///< MSHRs in use, summed over the window's cycles
  std::uint64_t warp_cycles = 0;  ///< resident warps, summed likewise

  bool operator==(const HistoryWindow&) const = default;
};

class TimeHistory {
 public:
  explicit TimeHistory(std::uint32_t sms);

  void warp_starts(std::uint32_t sm, std::uint64_t cycle) {
    sms_[sm].warps.add(cycle, {1, 0});
  }
  void warp_ends(std::uint32_t sm, std::uint64_t cycle) {
    sms_[sm].warps.add(cycle, {-1, 0});
  }
  void access(std::uint32_t sm, std::uint64_t cycle) {
    sms_[sm].accesses.add(cycle, {1});
  }
  /// An access that missed: outstanding until the cycle `returns`.
  void miss(std::uint32_t sm, std::uint64_t cycle, std::uint64_t returns, bool from_dram) {
    Tracks& tracks = sms_[sm];
    tracks.l1_misses.add(cycle, {1});
    if (from_dram) {
      tracks.l2_misses.add(cycle, {1});
    }
    tracks.misses.add(cycle, {1, 0});
    tracks.misses.add(returns, {-1, 0});
  }
  /// Bytes whose service begins in this cycle.
  void l2_serves(std::uint64_t cycle, std::uint64_t bytes) {
    l2_bytes_.add(cycle, {bytes});
  }
  void dram_serves(std::uint64_t cycle, std::uint64_t bytes) {
    dram_bytes_.add(cycle, {bytes});
  }

  /// Once, after the last event; `cycles`: of the launch.
  void finish(std::uint64_t cycles);

  // After `finish`.
  [[nodiscard]] std::uint64_t cycles() const {
    return cycles_;
  }
  /// Of every window but the last, which may be shorter.
  [[nodiscard]] std::uint64_t window_cycles() const {
    return std::uint64_t{1} << shift_;
  }
  [[nodiscard]] std::uint64_t cycles_of(std::size_t window) const;
  /// Of the whole machine.
  [[nodiscard]] const std::vector<HistoryWindow>& windows() const {
    return windows_;
  }
  /// By SM, as many as `windows`; without bytes.
  [[nodiscard]] const std::vector<std::vector<HistoryWindow>>& of_sms() const {
    return windows_of_sms_;
  }

  [[nodiscard]] static std::size_t most_windows(std::uint32_t sms);

  static constexpr std::size_t kMostWindows = 512;
  static constexpr std::size_t kMostCells = std::size_t{1} << 19U;

 private:
  struct Count {
    std::uint64_t sum = 0;

    void add(Count other, std::uint64_t /*cycles_left*/) {
      sum += other.sum;
    }
    void append(const Count& next, std::uint64_t /*width*/) {
      sum += next.sum;
    }
  };
  /// Of a number that rises and falls: its change within the window, and what the changes add to its sum over the
  /// window's cycles.
  struct Level {
    std::int64_t change = 0;
    std::int64_t area = 0;

    void add(Level other, std::uint64_t cycles_left) {
      change += other.change;
      area += other.change * static_cast<std::int64_t>(cycles_left);
    }
    void append(const Level& next, std::uint64_t width) {
      area += change * static_cast<std::int64_t>(width) + next.area;
      change += next.change;
    }
  };

  template <class Cell>
  class Track {
   public:
    explicit Track(std::size_t most) : most_(most) {}

    void add(std::uint64_t cycle, Cell amount) {
      while (cycle >> shift_ >= most_) {
        widen();
      }
      const auto window = static_cast<std::size_t>(cycle >> shift_);
      if (window >= cells_.size()) {
        cells_.resize(window + 1);
      }
      cells_[window].add(amount, ((window + 1) << shift_) - cycle);
    }
    void widen() {
      const std::uint64_t width = std::uint64_t{1} << shift_;
      const std::size_t half = (cells_.size() + 1) / 2;
      for (std::size_t i = 0; i < half; ++i) {
        Cell merged = cells_[2 * i];
        merged.append(2 * i + 1 < cells_.size() ? cells_[2 * i + 1] : Cell{}, width);
        cells_[i] = merged;
      }
      cells_.resize(half);
      ++shift_;
    }
    [[nodiscard]] unsigned shift() const {
      return shift_;
    }
    [[nodiscard]] const std::vector<Cell>& cells() const {
      return cells_;
    }

   private:
    std::size_t most_;
    unsigned shift_ = 0;  ///< a window has 2^shift cycles
    std::vector<Cell> cells_;
  };

  struct Tracks {
    explicit Tracks(std::size_t most) : accesses(most), l1_misses(most), l2_misses(most), misses(most), warps(most) {}

    Track<Count> accesses, l1_misses, l2_misses;
    Track<Level> misses, warps;
  };

  template <class Each>
  void each_track(const Each& each);
  void count(Track<Count>& track, std::vector<HistoryWindow>& windows, std::uint64_t HistoryWindow::*member) const;
  void sum(Track<Level>& track, std::vector<HistoryWindow>& windows, std::uint64_t HistoryWindow::*member) const;

  std::vector<Tracks> sms_;
  Track<Count> l2_bytes_, dram_bytes_;
  unsigned shift_ = 0;
  std::uint64_t cycles_ = 0;
  std::vector<HistoryWindow> windows_;
  std::vector<std::vector<HistoryWindow>> windows_of_sms_;
};

}  // namespace rayreplay::machine
