#include "sim/machine/time_history.hpp"

#include <algorithm>
#include <bit>

namespace rayreplay::machine {
namespace {

constexpr std::size_t kLeastWindows = 16;

}  // namespace

std::size_t TimeHistory::most_windows(std::uint32_t sms) {
  return std::clamp(std::bit_floor(kMostCells / std::max<std::size_t>(sms, 1)), kLeastWindows, kMostWindows);
}

TimeHistory::TimeHistory(std::uint32_t sms)
    : sms_(sms, Tracks(most_windows(sms))), l2_bytes_(most_windows(sms)), dram_bytes_(most_windows(sms)) {}

template <class Each>
void TimeHistory::each_track(const Each& each) {
  for (Tracks& tracks : sms_) {
    each(tracks.accesses);
    each(tracks.l1_misses);
    each(tracks.l2_misses);
    each(tracks.misses);
    each(tracks.warps);
  }
  each(l2_bytes_);
  each(dram_bytes_);
}

void TimeHistory::finish(std::uint64_t cycles) {
  cycles_ = cycles;
  each_track([this](const auto& track) { shift_ = std::max(shift_, track.shift()); });
  each_track([this](auto& track) {
    while (track.shift() < shift_) {
      track.widen();
    }
  });
  const std::uint64_t last = cycles == 0 ? 0 : (cycles - 1) >> shift_;
  windows_.assign(static_cast<std::size_t>(last) + 1, {});
  count(l2_bytes_, windows_, &HistoryWindow::l2_bytes);
  count(dram_bytes_, windows_, &HistoryWindow::dram_bytes);
  for (Tracks& tracks : sms_) {
    std::vector<HistoryWindow>& own = windows_of_sms_.emplace_back(windows_.size());
    count(tracks.accesses, own, &HistoryWindow::accesses);
    count(tracks.l1_misses, own, &HistoryWindow::l1_misses);
    count(tracks.l2_misses, own, &HistoryWindow::l2_misses);
    sum(tracks.misses, own, &HistoryWindow::miss_cycles);
    sum(tracks.warps, own, &HistoryWindow::warp_cycles);
    for (std::size_t i = 0; i < own.size(); ++i) {
      windows_[i].accesses += own[i].accesses;
      windows_[i].l1_misses += own[i].l1_misses;
      windows_[i].l2_misses += own[i].l2_misses;
      windows_[i].miss_cycles += own[i].miss_cycles;
      windows_[i].warp_cycles += own[i].warp_cycles;
    }
  }
  sms_.clear();
}

std::uint64_t TimeHistory::cycles_of(std::size_t window) const {
  return std::min(cycles_, (std::uint64_t{window} + 1) << shift_) - (std::uint64_t{window} << shift_);
}

void TimeHistory::count(Track<Count>& track, std::vector<HistoryWindow>& windows,
                        std::uint64_t HistoryWindow::*member) const {
  for (std::size_t i = 0; i < track.cells().size(); ++i) {
    windows[std::min(i, windows.size() - 1)].*member += track.cells()[i].sum;
  }
}

void TimeHistory::sum(Track<Level>& track, std::vector<HistoryWindow>& windows,
                      std::uint64_t HistoryWindow::*member) const {
  std::int64_t level = 0;
  for (std::size_t i = 0; i < std::max(track.cells().size(), windows.size()); ++i) {
    const Level cell = i < track.cells().size() ? track.cells()[i] : Level{};
    const std::int64_t area = level * static_cast<std::int64_t>(window_cycles()) + cell.area;
    windows[std::min(i, windows.size() - 1)].*member += static_cast<std::uint64_t>(area);
    level += cell.change;
  }
}

}  // namespace rayreplay::machine
