// What a timed run needs, and its obvious twin: the rules of timing.hpp by searching, on the slow machine.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "sim/machine/timing.hpp"
#include "tests/machine/slow_job.hpp"
#include "tests/machine/slow_machine.hpp"

namespace rayreplay::test {

using machine::Job;
using machine::Machine;
using machine::TimedRun;
using scheduler::Exchange;
using scheduler::FormedWarp;
using scheduler::kNoSegment;

using Exchanges = std::vector<std::unique_ptr<Exchange>>;

class TestModel final : public scheduler::SchedulerModel {
 public:
  TestModel(scheduler::Cut cut, std::function<Exchanges()> make) : cut_(cut), make_(std::move(make)) {}
  [[nodiscard]] scheduler::Cut cut() const override {
    return cut_;
  }
  [[nodiscard]] scheduler::Grouping grouping() const override {
    return scheduler::Grouping::Timed;
  }
  [[nodiscard]] scheduler::Charges charges(const scheduler::MachineFacts&) const override {
    return {};
  }
  [[nodiscard]] Exchanges exchanges(const scheduler::PlanContext&) const override {
    return make_();
  }

 private:
  scheduler::Cut cut_;
  std::function<Exchanges()> make_;
};

/// Everything that a run needs.
struct Setting {
  trace::Trace trace;
  scheduler::WarpAssignment order;
  scheduler::Cut cut{.at = scheduler::CutAt::PendingCall};
  scheduler::Segments segments;
  scheduler::HintSources hints;
  Machine machine;
  std::uint32_t resident = 2;
  machine::Costs costs;
  scheduler::Charges charges;
  machine::Extra extra;
  std::function<Exchanges()> exchanges;

  [[nodiscard]] const trace::Launch& launch() const {
    return trace.launches.at(0);
  }
  [[nodiscard]] std::uint32_t shading() const {
    return machine.sms - charges.withheld_sms;
  }
  [[nodiscard]] TimedRun run() const {
    const TestModel model(cut, exchanges);
    const scheduler::PlanContext context{trace, launch(), order, segments, machine::facts(machine, resident), hints};
    return run_timed(context, model, machine, resident, costs, simt::Policy::StageMajority, charges, extra,
                     {.placement = true});
  }
};

/// The rules of timing.hpp, by searching.
class SlowRun {
 public:
  explicit SlowRun(const Setting& setting)
      : setting_(setting),
        size_(setting.order.warp_size),
        sms_(setting.machine, setting.resident, setting.charges),
        exchanges_(setting.exchanges()),
        ready_(exchanges_.size()) {
    for (std::uint32_t rank = 0; rank < setting.order.warps(); ++rank) {
      std::vector<std::uint32_t> lanes(size_, kNoSegment);
      for (std::uint32_t warp = 0; warp < setting.order.warps(); ++warp) {
        for (std::uint32_t lane = 0; setting.order.start_rank[warp] == rank && lane < size_; ++lane) {
          const std::uint32_t thread = setting.order.thread_at[warp * size_ + lane];
          if (thread != scheduler::kNoThread && setting.segments.first[thread] < setting.segments.first[thread + 1]) {
            lanes[lane] = setting.segments.first[thread];
          }
        }
      }
      if (lanes != std::vector<std::uint32_t>(size_, kNoSegment)) {
        launch_.push_back(lanes);
      }
    }
  }

  TimedRun run() {
    settle();
    for (;;) {
      double next = sms_.next_end();
      for (const auto& exchange : exchanges_) {
        next = exchange->waiting() > 0 ? std::min(next, exchange->deadline_cycles()) : next;
      }
      if (next == scheduler::kNever) {
        break;
      }
      const bool ends = sms_.next_end() <= next;
      std::vector<SlowJob> ended = sms_.advance(std::max(next, sms_.now));
      EXPECT_TRUE(!ended.empty() || !ends);
      std::stable_sort(ended.begin(), ended.end(), [](const SlowJob& a, const SlowJob& b) {
        return a.sm != b.sm ? a.sm < b.sm : a.number < b.number;
      });
      std::vector<bool> asked(exchanges_.size(), false);
      for (const SlowJob& job : ended) {
        asked[of(job.sm)] = true;
        placed_.end[job.number] = sms_.now;
        for (std::uint32_t lane = 0; lane < size_; ++lane) {
          const std::uint32_t segment = warps_[job.number][lane];
          if (segment != kNoSegment && goes_on(segment)) {
            exchanges_[of(job.sm)]->arrive({segment + 1, job.number, static_cast<std::uint8_t>(lane)}, sms_.now);
          }
        }
      }
      for (std::size_t e = 0; e < exchanges_.size(); ++e) {
        if (asked[e] || (exchanges_[e]->waiting() > 0 && exchanges_[e]->deadline_cycles() <= sms_.now)) {
          release(e, false);
        }
      }
      settle();
    }
    sms_.finish(setting_.machine, setting_.charges);
    TimedRun result;
    for (const auto& lanes : warps_) {
      result.schedule.segment_at.insert(result.schedule.segment_at.end(), lanes.begin(), lanes.end());
    }
    result.schedule.moved.assign(moved_.begin(), moved_.end());
    result.timing = sms_.timing;
    result.timing.placement = placed_;
    return result;
  }
  [[nodiscard]] bool ambiguous() const {
    return sms_.ambiguous;
  }

 private:
  [[nodiscard]] std::size_t of(std::uint32_t sm) const {
    return exchanges_.size() == 1 ? 0 : sm;
  }
  [[nodiscard]] bool goes_on(std::uint32_t segment) const {
    const auto& first = setting_.segments.first;
    return std::find(first.begin(), first.end(), segment + 1) == first.end();
  }
  void release(std::size_t e, bool starved) {
    std::vector<FormedWarp> out;
    exchanges_[e]->release(sms_.now, starved, out);
    ready_[e].insert(ready_[e].end(), out.begin(), out.end());
  }
  [[nodiscard]] std::size_t running(std::size_t e) const {
    return static_cast<std::size_t>(
        std::count_if(sms_.running.begin(), sms_.running.end(), [&](const SlowJob& job) { return of(job.sm) == e; }));
  }
  [[nodiscard]] bool admits(std::size_t e) const {
    const std::size_t slots = setting_.resident * (exchanges_.size() == 1 ? sms_.shading() : 1);
    return running(e) + ready_[e].size() + (exchanges_[e]->waiting() + size_ - 1) / size_ + 1 <= slots;
  }
  void start(std::uint32_t sm, const std::vector<std::uint32_t>& lanes, std::uint32_t moved, bool formed) {
    std::uint32_t hits = 0;
    const Job alone = slow_job(setting_.launch(), setting_.trace.shaders, setting_.segments, setting_.machine,
                               setting_.costs, lanes, hits);
    const auto threads = static_cast<std::uint32_t>(size_ - std::count(lanes.begin(), lanes.end(), kNoSegment));
    const Job job =
        slow_charge(alone, hits, threads, moved, formed, true, setting_.charges, setting_.extra, sms_.bandwidth());
    sms_.timing.traffic_bytes += job.bytes;
    placed_.slot.push_back(sms_.start(sm, static_cast<std::uint32_t>(warps_.size()), job));
    placed_.sm.push_back(sm + setting_.charges.withheld_sms);
    placed_.start.push_back(sms_.now);
    placed_.end.push_back(sms_.now);
    warps_.push_back(lanes);
    moved_.push_back(moved);
  }
  void fill() {
    for (std::size_t e = 0; e < exchanges_.size(); ++e) {
      while (!ready_[e].empty()) {
        const std::uint32_t sm = exchanges_.size() == 1 ? sms_.emptiest() : static_cast<std::uint32_t>(e);
        if (sm == sms_.shading() || !sms_.has_room(sm)) {
          break;
        }
        const FormedWarp warp = ready_[e].front();
        ready_[e].pop_front();
        start(sm, {warp.segment_at.begin(), warp.segment_at.begin() + size_}, warp.moved, true);
      }
    }
    while (!launch_.empty()) {
      std::uint32_t best = sms_.shading();
      for (std::uint32_t sm = 0; sm < sms_.shading(); ++sm) {
        if (sms_.has_room(sm) && admits(of(sm)) && (best == sms_.shading() || sms_.jobs_on(sm) < sms_.jobs_on(best))) {
          best = sm;
        }
      }
      if (best == sms_.shading()) {
        return;
      }
      const auto lanes = launch_.front();
      launch_.pop_front();
      start(best, lanes, 0, false);
    }
  }
  [[nodiscard]] bool starved(std::size_t e) const {
    if (exchanges_[e]->waiting() == 0 || !ready_[e].empty() || (!launch_.empty() && running(e) > 0)) {
      return false;
    }
    for (const SlowJob& job : sms_.running) {
      for (const std::uint32_t segment : warps_[job.number]) {
        if (of(job.sm) == e && segment != kNoSegment && goes_on(segment)) {
          return false;
        }
      }
    }
    return true;
  }
  void settle() {
    for (bool fed = true; fed;) {
      fill();
      fed = false;
      for (std::size_t e = 0; e < exchanges_.size(); ++e) {
        if (starved(e)) {
          release(e, true);
          fed = true;
        }
      }
    }
  }

  const Setting& setting_;
  std::uint32_t size_;
  SlowSms sms_;
  Exchanges exchanges_;
  std::vector<std::deque<FormedWarp>> ready_;
  std::deque<std::vector<std::uint32_t>> launch_;
  std::vector<std::vector<std::uint32_t>> warps_;
  std::vector<std::uint32_t> moved_;
  machine::Placement placed_;
};

}  // namespace rayreplay::test
