// The closed loop once more: the rules of "forming" (sim/machine/dispatcher.hpp) in every cycle, by searching lists.
//
// Launches, exchanges and streams of it are drawn at random: a warp's stream is one of a stock, chosen by its lanes.
// Some launches have queues in memory: their warps load the entries of their threads after all else, then store those
// of the threads that go on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/split_mix.hpp"
#include "scheduler-models/regrouping/exchanges/pool_exchange.hpp"
#include "scheduler-models/regrouping/exchanges/queue_exchange.hpp"
#include "sim/machine/dispatcher.hpp"
#include "tests/interleave/random_source.hpp"
#include "tests/interleave/slow_dispatch.hpp"

namespace rayreplay::test {

using Lanes = std::vector<std::uint32_t>;

/// Threads of some segments, packed into warps, and their exchanges.
struct FormingLaunch {
  scheduler::WarpAssignment order;
  scheduler::Segments segments;
  std::uint32_t withheld = 0;
  std::function<machine::Exchanges()> exchanges;
  scheduler::ModelQueues queues;  ///< in memory
  std::uint32_t places = 0;       ///< of a queue

  [[nodiscard]] bool goes_on(std::uint32_t segment) const {
    return std::find(segments.first.begin(), segments.first.end(), segment + 1) == segments.first.end();
  }
};

/// A thread for each number: that of its segments.
inline FormingLaunch forming_launch(const std::vector<std::uint32_t>& segments, std::uint32_t warp_size) {
  FormingLaunch launch;
  launch.segments.first.push_back(0);
  for (const std::uint32_t count : segments) {
    launch.segments.first.push_back(launch.segments.first.back() + count);
    launch.segments.bounce.resize(launch.segments.first.back());
    launch.segments.most_of_a_thread = std::max(launch.segments.most_of_a_thread, count);
  }
  launch.order.warp_size = warp_size;
  for (std::uint32_t thread = 0; thread < segments.size(); ++thread) {
    launch.order.thread_at.push_back(thread);
  }
  while (launch.order.thread_at.size() % warp_size != 0) {
    launch.order.thread_at.push_back(scheduler::kNoThread);
  }
  for (std::uint32_t warp = 0; warp * warp_size < launch.order.thread_at.size(); ++warp) {
    launch.order.start_rank.push_back(warp);
    launch.order.tile.push_back(0);
  }
  return launch;
}

/// One exchange or one for each SM; pools with and without time-outs, queues with and without a limit.
inline FormingLaunch random_forming(std::uint32_t sms, Draws& draw) {
  const std::uint32_t warp_size = 1U << draw.upto(3);
  std::vector<std::uint32_t> counts(draw.upto(draw.upto(1) == 0 ? 30 : 200));
  const std::uint32_t most = draw.upto(5);
  for (std::uint32_t& count : counts) {
    count = draw.upto(most);
  }
  FormingLaunch launch = forming_launch(counts, warp_size);
  for (auto i = static_cast<std::uint32_t>(launch.order.thread_at.size()); i > 1; --i) {
    std::swap(launch.order.thread_at[i - 1], launch.order.thread_at[draw.upto(i - 1)]);
  }
  std::reverse(launch.order.start_rank.begin(), launch.order.start_rank.end());
  launch.withheld = draw.upto(2) == 0 ? draw.upto(sms - 1) : 0;
  auto keys = std::make_shared<trace::Column<std::uint64_t>>();
  for (std::size_t segment = 0; segment < launch.segments.size(); ++segment) {
    keys->push_back(draw.upto(4));
  }
  const std::size_t count = draw.upto(1) == 0 ? 1 : sms - launch.withheld;
  const bool queues = draw.upto(1) == 0;
  const std::uint32_t pool = 1 + draw.upto(3);
  const double timeout = draw.upto(2) == 0 ? scheduler::kNever : draw.upto(600) / 3.0;
  const std::uint64_t limit = draw.upto(1) == 0 ? 0 : 1 + draw.upto(30);
  const bool split = draw.upto(1) == 0;
  if (draw.upto(1) == 0) {
    launch.queues = {4, keys};
    launch.places = 1 + draw.upto(20);
  }
  launch.exchanges = [=] {
    machine::Exchanges result;
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back(queues ? scheduler::make_queue_exchange(keys, warp_size, limit)
                              : scheduler::make_pool_exchange(keys, warp_size, {.split_keys = split}, pool, timeout));
    }
    return result;
  };
  return launch;
}

/// A warp that has started.
struct StartedWarp {
  std::uint64_t cycle = 0;
  std::uint32_t sm = 0;
  Lanes lanes;
  std::uint64_t moved = 0;
  auto operator<=>(const StartedWarp&) const = default;
};

/// The stream of a warp with these lanes.
inline const memory::WarpStream& stream_of(const std::vector<memory::WarpStream>& stock, const Lanes& lanes) {
  std::uint64_t hash = 1;
  for (const std::uint32_t segment : lanes) {
    hash = split_mix(hash, segment);
  }
  return stock[hash % stock.size()];
}

/// Appends an instruction with a transaction for each of these entries.
inline void add_entries(const std::vector<scheduler::QueueEntry>& entries, bool store, memory::WarpStream& stream) {
  if (entries.empty()) {
    return;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    memory::Transaction transaction;
    transaction.line = 30 + entries[i].queue * 4 + entries[i].place / 4;
    transaction.sectors = 1;
    transaction.lanes = 1;
    transaction.kind = memory::DataKind::Queue;
    transaction.flags = static_cast<std::uint8_t>((store ? 1 : 0) * memory::kStore + (i == 0 ? 1 : 0) * memory::kFirst);
    transaction.bytes = static_cast<std::uint16_t>(1 + entries[i].place % 4);
    stream.transactions.push_back(transaction);
    stream.requests.push_back({entries[i].queue, entries[i].place});
  }
  if (stream.first.empty()) {
    stream.first.push_back(0);
  }
  stream.first.push_back(static_cast<std::uint32_t>(stream.transactions.size()));
  stream.raw.rows.push_back({.mask = 1, .first = 0, .bytes = 4, .kind = memory::DataKind::Queue, .store = store});
  if (!stream.work.empty()) {
    stream.work.emplace_back();
  }
}

class FormingSource final : public memory::WarpSource {
 public:
  /// `queues`: filled by the dispatcher; null: none.
  FormingSource(const KeptSource& stock, const memory::ItemSegments& items, const FormingLaunch& launch,
                const scheduler::QueuePlaces* queues)
      : stock_(stock), items_(items), launch_(launch), warp_size_(launch.order.warp_size), queues_(queues) {}
  [[nodiscard]] std::uint32_t items() const override {
    return items_.most_items();
  }
  [[nodiscard]] const memory::Allocations& allocations() const override {
    return stock_.allocations();
  }
  [[nodiscard]] const memory::CoalesceOptions& coalescing() const override {
    return stock_.coalescing();
  }
  void generate(std::span<const std::uint32_t> items, std::span<memory::WarpStream> out) override {
    for (std::size_t i = 0; i < items.size(); ++i) {
      Lanes lanes(warp_size_);
      (void)items_.segments_of(items[i], lanes);
      out[i] = stream_of(stock_.streams, lanes);
      add_entries(entries_of(lanes, false), false, out[i]);
      EXPECT_TRUE(made_.insert(items[i]).second) << "item " << items[i] << " was made before";
    }
  }
  void complete(std::uint32_t item, memory::WarpStream& stream) override {
    Lanes lanes(warp_size_);
    (void)items_.segments_of(item, lanes);
    add_entries(entries_of(lanes, true), true, stream);
  }

 private:
  /// Those by which the threads came here, or by which they go on (`next`).
  [[nodiscard]] std::vector<scheduler::QueueEntry> entries_of(const Lanes& lanes, bool next) const {
    std::vector<scheduler::QueueEntry> entries;
    for (const std::uint32_t segment : lanes) {
      if (queues_ != nullptr && segment != scheduler::kNoSegment &&
          (next ? launch_.goes_on(segment) : !std::ranges::binary_search(launch_.segments.first, segment))) {
        entries.push_back(queues_->entry(next ? segment + 1 : segment));
      }
    }
    return entries;
  }

  const KeptSource& stock_;
  const memory::ItemSegments& items_;
  const FormingLaunch& launch_;
  std::uint32_t warp_size_;
  const scheduler::QueuePlaces* queues_;
  std::set<std::uint32_t> made_;
};

/// Passes everything on, and notes the warps that start.
class NotingDispatcher final : public machine::Dispatcher {
 public:
  NotingDispatcher(machine::FormingDispatcher& that, std::uint32_t warp_size) : that_(that), warp_size_(warp_size) {}
  std::vector<StartedWarp> started;
  std::vector<std::uint32_t> items_of;            ///< by started warp
  std::map<std::uint32_t, std::uint64_t> end_of;  ///< by item

  [[nodiscard]] std::uint32_t items() const override {
    return that_.items();
  }
  [[nodiscard]] std::uint32_t known_items() const override {
    return that_.known_items();
  }
  [[nodiscard]] bool has_left(std::uint64_t given) const override {
    return that_.has_left(given);
  }
  [[nodiscard]] std::uint32_t first_sm() const override {
    return that_.first_sm();
  }
  [[nodiscard]] bool signals() const override {
    return that_.signals();
  }
  [[nodiscard]] std::uint32_t take_own(std::uint32_t sm, std::uint64_t cycle) override {
    return noted(that_.take_own(sm, cycle), sm, cycle);
  }
  [[nodiscard]] bool has_shared(std::uint32_t sm, std::uint64_t cycle) const override {
    return that_.has_shared(sm, cycle);
  }
  [[nodiscard]] std::uint32_t take_shared(std::uint32_t sm, std::uint64_t cycle,
                                          std::vector<machine::Release>& releases) override {
    return noted(that_.take_shared(sm, cycle, releases), sm, cycle);
  }
  void ended(std::uint32_t item, std::uint32_t sm, std::uint64_t cycle,
             std::vector<machine::Release>& releases) override {
    end_of[item] = cycle;
    that_.ended(item, sm, cycle, releases);
  }
  [[nodiscard]] std::uint64_t next_release(std::uint32_t sm, std::uint64_t cycle) const override {
    return that_.next_release(sm, cycle);
  }
  void append_next(std::size_t most, std::vector<std::uint32_t>& items) const override {
    that_.append_next(most, items);
  }

 private:
  std::uint32_t noted(std::uint32_t item, std::uint32_t sm, std::uint64_t cycle) {
    if (item != kNone) {
      Lanes lanes(warp_size_);
      const std::uint64_t moved = that_.segments_of(item, lanes);
      started.push_back({cycle, sm, lanes, moved});
      items_of.push_back(item);
    }
    return item;
  }

  machine::FormingDispatcher& that_;
  std::uint32_t warp_size_;
};

class SlowForming : public SlowDispatch {
 public:
  SlowForming(const FormingLaunch& launch, const KeptSource& stock, std::uint32_t sms, std::uint32_t resident,
              std::uint64_t signal_cycles)
      : launch_(launch),
        stock_(stock),
        shading_(sms - launch.withheld),
        resident_(resident),
        signal_cycles_(signal_cycles),
        exchanges_(launch.exchanges()),
        ready_(exchanges_.size()) {
    const std::uint32_t size = launch.order.warp_size;
    for (std::uint32_t rank = 0; rank < launch.order.warps(); ++rank) {
      Lanes lanes(size, scheduler::kNoSegment);
      for (std::uint32_t warp = 0; warp < launch.order.warps(); ++warp) {
        for (std::uint32_t lane = 0; launch.order.start_rank[warp] == rank && lane < size; ++lane) {
          const std::uint32_t thread = launch.order.thread_at[warp * size + lane];
          if (thread != scheduler::kNoThread && launch.segments.first[thread] < launch.segments.first[thread + 1]) {
            lanes[lane] = launch.segments.first[thread];
          }
        }
      }
      if (lanes != Lanes(size, scheduler::kNoSegment)) {
        launched_.push_back(lanes);
      }
    }
    known_ = launched_.size();
    for (std::uint32_t segment = 0; launch.queues.keys && segment < launch.segments.size(); ++segment) {
      if (launch.goes_on(segment)) {
        keys_.insert((*launch.queues.keys)[segment + 1]);
      }
    }
  }

  /// By item. Items are numbered by start.
  std::vector<memory::WarpStream> streams;
  std::vector<StartedWarp> started;

  [[nodiscard]] bool runs(std::uint32_t sm) const override {
    return sm >= launch_.withheld;
  }
  [[nodiscard]] bool work_left() const override {
    return started_segments_ < launch_.segments.size();
  }
  void told(std::uint64_t cycle) override {
    now_ = cycle;
    for (std::size_t exchange = 0; exchange < exchanges_.size(); ++exchange) {
      settle(exchange);
    }
  }
  std::optional<std::uint32_t> own(std::uint32_t sm, std::uint64_t /*cycle*/) override {
    return single() ? std::nullopt : formed(sm);
  }
  [[nodiscard]] bool admits(std::uint32_t sm) const override {
    return single() || has_room(of(sm));
  }
  std::optional<std::uint32_t> shared(std::uint32_t sm, std::uint64_t /*cycle*/) override {
    if (single()) {
      if (const auto item = formed(sm)) {
        return item;
      }
    }
    if (launched_.empty() || !has_room(of(sm))) {
      return {};
    }
    const Lanes lanes = launched_.front();
    launched_.pop_front();
    if (launched_.empty()) {
      none_left_since_ = now_ + (single() ? 0 : signal_cycles_);
    }
    const std::uint32_t item = start(sm, lanes, 0, starts_launched_++);
    settle(of(sm));
    return item;
  }
  void ended(std::uint32_t item, std::uint32_t sm, std::uint64_t cycle) override {
    ends_.emplace_back(cycle + (single() ? signal_cycles_ : 0), sm, item);
  }
  [[nodiscard]] std::size_t delay_of(std::uint32_t item) const override {
    return delays_[item];
  }

 private:
  using End = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;  // cycle, SM, item

  static bool is_segment(std::uint32_t segment) {
    return segment != scheduler::kNoSegment;
  }
  [[nodiscard]] bool single() const {
    return exchanges_.size() == 1;
  }
  [[nodiscard]] std::size_t of(std::uint32_t sm) const {
    return single() ? 0 : sm - launch_.withheld;
  }
  /// Warps whose end the exchange has not heard of.
  [[nodiscard]] std::size_t running(std::size_t exchange) const {
    return static_cast<std::size_t>(std::count_if(
        runs_.begin(), runs_.end(), [&](std::uint32_t item) { return of(started[item].sm) == exchange; }));
  }
  [[nodiscard]] bool has_room(std::size_t exchange) const {
    const std::size_t size = launch_.order.warp_size;
    const std::size_t slots = std::size_t{resident_} * (single() ? shading_ : 1);
    return running(exchange) + ready_[exchange].size() + (exchanges_[exchange]->waiting() + size - 1) / size < slots;
  }
  [[nodiscard]] bool starved(std::size_t exchange) const {
    if (exchanges_[exchange]->waiting() == 0 || !ready_[exchange].empty()) {
      return false;
    }
    for (const std::uint32_t item : runs_) {
      for (const std::uint32_t segment : started[item].lanes) {
        if (of(started[item].sm) == exchange && is_segment(segment) && launch_.goes_on(segment)) {
          return false;
        }
      }
    }
    return (none_left_since_ && *none_left_since_ <= now_) || (running(exchange) == 0 && !has_room(exchange));
  }
  void release(std::size_t exchange, bool starved) {
    std::vector<scheduler::FormedWarp> out;
    exchanges_[exchange]->release(static_cast<double>(now_), starved, out);
    ready_[exchange].insert(ready_[exchange].end(), out.begin(), out.end());
  }
  /// Ends of which the exchange hears now; then it is asked.
  void settle(std::size_t exchange) {
    std::sort(ends_.begin(), ends_.end());
    bool any = false;
    for (auto end = ends_.begin(); end != ends_.end();) {
      const auto [cycle, sm, item] = *end;
      if (of(sm) != exchange || cycle > now_) {
        ++end;
        continue;
      }
      any = true;
      for (std::uint32_t lane = 0; lane < launch_.order.warp_size; ++lane) {
        const std::uint32_t segment = started[item].lanes[lane];
        if (is_segment(segment) && launch_.goes_on(segment)) {
          exchanges_[exchange]->arrive({segment + 1, item, static_cast<std::uint8_t>(lane)}, static_cast<double>(now_));
        }
      }
      std::erase(runs_, item);
      end = ends_.erase(end);
    }
    if (any) {
      release(exchange, false);
    }
    if (exchanges_[exchange]->waiting() > 0 && exchanges_[exchange]->deadline_cycles() <= static_cast<double>(now_)) {
      release(exchange, false);
    }
    if (starved(exchange)) {
      release(exchange, true);
    }
  }
  std::optional<std::uint32_t> formed(std::uint32_t sm) {
    settle(of(sm));
    auto& ready = ready_[of(sm)];
    if (ready.empty()) {
      return {};
    }
    const scheduler::FormedWarp warp = ready.front();
    ready.pop_front();
    const std::uint32_t item = start(sm, {warp.segment_at.begin(), warp.segment_at.begin() + launch_.order.warp_size},
                                     warp.moved_lanes, known_);
    settle(of(sm));
    return item;
  }
  std::uint32_t start(std::uint32_t sm, const Lanes& lanes, std::uint64_t moved, std::size_t delay) {
    const auto item = static_cast<std::uint32_t>(started.size());
    started.push_back({now_, sm, lanes, moved});
    streams.push_back(stream_of(stock_.streams, lanes));
    add_queues(sm, lanes);
    delays_.push_back(delay);
    runs_.push_back(item);
    started_segments_ += static_cast<std::size_t>(std::count_if(lanes.begin(), lanes.end(), is_segment));
    return item;
  }

  /// The queue's next place is the number of entries that it ever had.
  void add_queues(std::uint32_t sm, const Lanes& lanes) {
    std::vector<scheduler::QueueEntry> loaded;
    std::vector<scheduler::QueueEntry> stored;
    for (const std::uint32_t segment : lanes) {
      if (launch_.queues.keys == nullptr || !is_segment(segment)) {
        continue;
      }
      if (const auto found = entry_of_.find(segment); found != entry_of_.end()) {
        loaded.push_back(found->second);
      }
      if (launch_.goes_on(segment)) {
        const std::uint64_t key = (*launch_.queues.keys)[segment + 1];
        const auto queue = static_cast<std::uint32_t>(
            of(sm) * keys_.size() + static_cast<std::size_t>(std::distance(keys_.begin(), keys_.find(key))));
        entry_of_[segment + 1] = {queue, appended_[queue]++ % launch_.places};
        stored.push_back(entry_of_[segment + 1]);
      }
    }
    add_entries(loaded, false, streams.back());
    add_entries(stored, true, streams.back());
  }

  const FormingLaunch& launch_;
  const KeptSource& stock_;
  std::set<std::uint64_t> keys_;
  std::map<std::uint32_t, std::uint32_t> appended_;          ///< by queue
  std::map<std::uint32_t, scheduler::QueueEntry> entry_of_;  ///< by segment
  std::uint32_t shading_, resident_;
  std::uint64_t signal_cycles_;
  machine::Exchanges exchanges_;
  std::vector<std::deque<scheduler::FormedWarp>> ready_;
  std::deque<Lanes> launched_;
  std::size_t known_ = 0, starts_launched_ = 0, started_segments_ = 0;
  std::vector<std::size_t> delays_;  ///< by item: its place among the delays
  std::vector<std::uint32_t> runs_;  ///< items whose end the exchange has not heard of
  std::vector<End> ends_;
  std::optional<std::uint64_t> none_left_since_;
  std::uint64_t now_ = 0;
};

}  // namespace rayreplay::test
