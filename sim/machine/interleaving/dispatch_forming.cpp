// Warps that form while the interleaving runs (dispatcher.hpp, "forming").
//
// Method: an exchange's events are arrivals, deadlines and starts of warps. They are processed only when the
// interleaving asks for items or reports an end, but each with its own cycle. The interleaving simulates SM by SM; so
// an event of one SM must not change what another one finds in the same window. The exchange of an SM is told of events
// of its SM alone, and `signal_cycles` late that the last launched warp has started. A single exchange is told of ends
// `signal_cycles` late, and its items are taken in the order of cycles: an SM with a free slot stops at each of its
// events (`has_shared`, `next_release`).
#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "sim/machine/dispatcher.hpp"

namespace rayreplay::machine {
namespace {

/// The first cycle at or after this time; kNever if that is beyond 2^62.
std::uint64_t cycle_of(double time) {
  constexpr double kMost = 0x1p62;
  if (!(time < kMost)) {
    return Dispatcher::kNever;
  }
  const double whole = std::max(time, 0.0);
  const auto cycle = static_cast<std::uint64_t>(whole);
  return static_cast<double>(cycle) < whole ? cycle + 1 : cycle;
}

class Forming final : public FormingDispatcher {
 public:
  Forming(const scheduler::WarpAssignment& order, const scheduler::Segments& segments, Exchanges exchanges,
          const Machine& machine, std::uint32_t resident_warps, std::uint32_t withheld_sms,
          scheduler::QueuePlaces* queues)
      : sms_(machine.sms),
        withheld_(withheld_sms),
        signal_cycles_(machine.l2_latency_cycles),
        warps_(order, segments, std::move(exchanges), machine.sms - withheld_sms, resident_warps, queues),
        most_items_(warps_.launch_warps() + later_segments(segments)),
        desks_(warps_.exchanges()) {
    if (!warps_.launch_left()) {
      none_left_since_ = 0;
    }
  }

  [[nodiscard]] std::uint32_t items() const override {
    return most_items_;
  }
  [[nodiscard]] std::uint32_t known_items() const override {
    return warps_.launch_warps();
  }
  [[nodiscard]] bool has_left(std::uint64_t /*given*/) const override {
    return warps_.left() != 0;
  }
  [[nodiscard]] std::uint32_t first_sm() const override {
    return withheld_;
  }
  [[nodiscard]] bool signals() const override {
    return true;
  }
  [[nodiscard]] std::uint32_t take_own(std::uint32_t sm, std::uint64_t cycle) override {
    if (warps_.single()) {
      return kNone;
    }
    const std::uint32_t exchange = sm - withheld_;
    process(exchange, cycle);
    return take_ready(exchange, cycle);
  }
  [[nodiscard]] bool has_shared(std::uint32_t sm, std::uint64_t cycle) const override {
    const std::uint32_t exchange = warps_.exchange_of(sm - withheld_);
    if (warps_.launch_left() && warps_.admits(exchange)) {
      return true;
    }
    return warps_.single() && (!warps_.ready(0).empty() || next_event(0) <= cycle);
  }
  [[nodiscard]] std::uint32_t take_shared(std::uint32_t sm, std::uint64_t cycle,
                                          std::vector<Release>& releases) override {
    const std::uint32_t exchange = warps_.exchange_of(sm - withheld_);
    if (warps_.single()) {
      process(0, cycle);
      if (const std::uint32_t warp = take_ready(0, cycle); warp != kNone) {
        return warp;
      }
    }
    if (!warps_.launch_left() || !warps_.admits(exchange)) {
      return kNone;
    }
    const std::uint32_t warp = warps_.start_launched(exchange);
    if (!warps_.launch_left()) {
      none_left_since_ = cycle + (warps_.single() ? 0 : signal_cycles_);
      if (!warps_.single()) {
        release_all(none_left_since_, releases);
      }
    }
    feed(exchange, cycle);
    return warp;
  }
  void ended(std::uint32_t item, std::uint32_t sm, std::uint64_t cycle, std::vector<Release>& releases) override {
    if (!warps_.single()) {
      if (cycle > 0) {
        process(sm - withheld_, cycle - 1);
      }
      desks_[sm - withheld_].ends.push({cycle, sm, warps_.rank_of(item), item});
      return;
    }
    const std::uint64_t told = cycle + signal_cycles_;
    desks_[0].ends.push({told, sm, warps_.rank_of(item), item});
    if (told != last_told_) {
      last_told_ = told;
      release_all(told, releases);
    }
  }
  [[nodiscard]] std::uint64_t next_release(std::uint32_t sm, std::uint64_t cycle) const override {
    const std::uint32_t exchange = warps_.exchange_of(sm - withheld_);
    const std::uint64_t next = next_event(exchange);
    return next > cycle ? next : kNever;
  }
  void append_next(std::size_t most, std::vector<std::uint32_t>& items) const override {
    const std::size_t end = items.size() + most;
    for (std::uint32_t exchange = 0; exchange < warps_.exchanges(); ++exchange) {
      for (const std::uint32_t warp : warps_.ready(exchange)) {
        if (items.size() == end) {
          return;
        }
        items.push_back(warp);
      }
    }
    for (std::uint32_t warp = warps_.next_launched(); warp < warps_.launch_warps() && items.size() < end; ++warp) {
      items.push_back(warp);
    }
  }

  [[nodiscard]] std::uint32_t most_items() const override {
    return most_items_;
  }
  std::uint64_t segments_of(std::uint32_t item, std::span<std::uint32_t> lanes) const override {
    const scheduler::FormedWarp warp = warps_.lanes_of(item);
    std::copy_n(warp.segment_at.begin(), lanes.size(), lanes.begin());
    return warp.moved_lanes;
  }

 private:
  /// The end of a warp; `cycle`: in which the exchange is told of it.
  struct End {
    std::uint64_t cycle;
    std::uint32_t sm, rank, warp;
    bool operator>(const End& other) const {
      return std::tie(cycle, sm, rank) > std::tie(other.cycle, other.sm, other.rank);
    }
  };
  /// Of an exchange.
  struct Desk {
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;  ///< of which it will be told
    bool knows_none_left = false;
  };

  static std::uint32_t later_segments(const scheduler::Segments& segments) {
    std::uint32_t threads = 0;
    for (std::size_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
      threads += segments.first[thread] < segments.first[thread + 1] ? 1U : 0U;
    }
    return static_cast<std::uint32_t>(segments.size()) - threads;
  }

  void release_all(std::uint64_t cycle, std::vector<Release>& releases) const {
    for (std::uint32_t sm = withheld_; sm < sms_; ++sm) {
      releases.push_back({sm, cycle});
    }
  }
  [[nodiscard]] bool knows_launch_left(std::uint64_t cycle) const {
    return cycle < none_left_since_;
  }

  /// The cycle of the exchange's first event that has not been processed.
  [[nodiscard]] std::uint64_t next_event(std::uint32_t exchange) const {
    const Desk& desk = desks_[exchange];
    std::uint64_t next = desk.ends.empty() ? kNever : desk.ends.top().cycle;
    if (warps_.waiting(exchange) > 0) {
      next = std::min(next, cycle_of(warps_.deadline(exchange)));
      next = desk.knows_none_left ? next : std::min(next, none_left_since_);
    }
    return next;
  }
  /// Processes the exchange's events up to this cycle.
  void process(std::uint32_t exchange, std::uint64_t cycle) {
    for (std::uint64_t at = next_event(exchange); at <= cycle; at = next_event(exchange)) {
      Desk& desk = desks_[exchange];
      if (!desk.ends.empty() && desk.ends.top().cycle == at) {
        for (; !desk.ends.empty() && desk.ends.top().cycle == at; desk.ends.pop()) {
          warps_.ended(desk.ends.top().warp, exchange, static_cast<double>(at));
        }
        warps_.ask(exchange, static_cast<double>(at));
      }
      if (cycle_of(warps_.deadline(exchange)) <= at) {
        warps_.ask_at_deadline(exchange, static_cast<double>(at));
      }
      desk.knows_none_left = !knows_launch_left(at);
      feed(exchange, at);
    }
  }
  void feed(std::uint32_t exchange, std::uint64_t cycle) {
    if (warps_.is_starved(exchange, knows_launch_left(cycle))) {
      warps_.feed(exchange, static_cast<double>(cycle));
    }
  }
  [[nodiscard]] std::uint32_t take_ready(std::uint32_t exchange, std::uint64_t cycle) {
    if (warps_.ready(exchange).empty()) {
      return kNone;
    }
    const std::uint32_t warp = warps_.start_ready(exchange);
    feed(exchange, cycle);
    return warp;
  }

  std::uint32_t sms_, withheld_;
  std::uint64_t signal_cycles_;
  FormingWarps warps_;
  std::uint32_t most_items_;
  std::vector<Desk> desks_;                 ///< by exchange
  std::uint64_t none_left_since_ = kNever;  ///< from then on exchanges know that no launched warp is left
  std::uint64_t last_told_ = kNever;        ///< cycle of the last notice
};

}  // namespace

std::unique_ptr<FormingDispatcher> dispatch_forming(const scheduler::WarpAssignment& order,
                                                    const scheduler::Segments& segments, Exchanges exchanges,
                                                    const Machine& machine, std::uint32_t resident_warps,
                                                    std::uint32_t withheld_sms, scheduler::QueuePlaces* queues) {
  return std::make_unique<Forming>(order, segments, std::move(exchanges), machine, resident_warps, withheld_sms,
                                   queues);
}

}  // namespace rayreplay::machine
