#include "sim/machine/forming_warps.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "scheduler-models/regrouping/warp_former.hpp"

namespace rayreplay::machine {
namespace {

using scheduler::FormedWarp;
using scheduler::kNoSegment;

[[noreturn]] void broken(std::string what, std::string found, std::string expected) {
  throw Error(ErrorKind::Internal, {"an exchange of the scheduler model " + std::move(what), "warps that form",
                                    std::move(found), std::move(expected), ""});
}

}  // namespace

FormingWarps::FormingWarps(const scheduler::WarpAssignment& order, const scheduler::Segments& segments,
                           Exchanges exchanges, std::uint32_t sms, std::uint32_t resident_warps,
                           scheduler::QueuePlaces* queues)
    : order_(&order),
      segments_(&segments),
      exchanges_(std::move(exchanges)),
      is_single_(exchanges_.size() == 1),
      slots_(std::uint64_t{std::max(resident_warps, 1U)} * (is_single_ ? sms : 1)),
      waits_(exchanges_.size()),
      queues_(queues) {
  if (exchanges_.size() != 1 && exchanges_.size() != sms) {
    broken("is too many or too few", fmt::format("{} exchanges", exchanges_.size()),
           fmt::format("1 or {}, the number of shading SMs", sms));
  }
  std::vector<std::uint32_t> by_rank(order.warps());
  for (std::uint32_t warp = 0; warp < order.warps(); ++warp) {
    by_rank[order.start_rank[warp]] = warp;
  }
  for (const std::uint32_t warp : by_rank) {
    for (std::uint32_t lane = 0; lane < order.warp_size; ++lane) {
      const std::uint32_t thread = order.thread_at[std::size_t{warp} * order.warp_size + lane];
      if (thread != scheduler::kNoThread && segments.first[thread] < segments.first[std::size_t{thread} + 1]) {
        launch_warps_.push_back(warp);
        break;
      }
    }
  }
  state_.resize(segments.size());
  std::fill(state_.begin(), state_.end(), std::uint8_t{0});
  for (std::size_t thread = 0; thread + 1 < segments.first.size(); ++thread) {
    if (segments.first[thread] < segments.first[thread + 1]) {
      state_[segments.first[thread + 1] - 1] = kLast;
    }
  }
}

FormedWarp FormingWarps::launched(std::uint32_t warp) const {
  FormedWarp lanes;
  lanes.segment_at.fill(kNoSegment);
  for (std::uint32_t lane = 0; lane < order_->warp_size; ++lane) {
    const std::uint32_t thread = order_->thread_at[std::size_t{launch_warps_[warp]} * order_->warp_size + lane];
    if (thread != scheduler::kNoThread && segments_->first[thread] < segments_->first[std::size_t{thread} + 1]) {
      lanes.segment_at[lane] = segments_->first[thread];
    }
  }
  return lanes;
}

FormedWarp FormingWarps::lanes_of(std::uint32_t warp) const {
  return warp < launch_warps_.size() ? launched(warp) : alive_.at(warp).warp;
}

bool FormingWarps::admits(std::uint32_t exchange) const {
  const Wait& wait = waits_[exchange];
  const std::uint64_t held = (waiting(exchange) + order_->warp_size - 1) / order_->warp_size;
  return wait.running + wait.ready.size() + held < slots_;
}

void FormingWarps::start(std::uint32_t exchange, Alive& warp) {
  if (ranks_ == scheduler::Waiting::kMaxWarps) {
    throw Error(ErrorKind::Resource, {"the launch forms too many warps", "", "more than that",
                                      fmt::format("at most {}", scheduler::Waiting::kMaxWarps), "split the launch"});
  }
  warp.rank = ranks_++;
  ++waits_[exchange].running;
  if (queues_ != nullptr) {
    queues_->append(warp.warp.segment_at, exchange);
  }
  for (const std::uint32_t segment : warp.warp.segment_at) {
    started_ += segment != kNoSegment ? 1U : 0U;
  }
}

std::uint32_t FormingWarps::start_ready(std::uint32_t exchange) {
  const std::uint32_t warp = waits_[exchange].ready.front();
  waits_[exchange].ready.pop_front();
  start(exchange, alive_.at(warp));
  return warp;
}

std::uint32_t FormingWarps::start_launched(std::uint32_t exchange) {
  const std::uint32_t warp = next_launched_++;
  Alive& one = alive_[warp];
  one.warp = launched(warp);
  for (const std::uint32_t segment : one.warp.segment_at) {
    waits_[exchange].coming += segment != kNoSegment && (state_[segment] & kLast) == 0 ? 1U : 0U;
  }
  start(exchange, one);
  return warp;
}

std::uint32_t FormingWarps::ended(std::uint32_t warp, std::uint32_t exchange, double now_cycles) {
  const auto found = alive_.find(warp);
  const Alive& one = found->second;
  std::uint32_t lanes = 0;
  for (std::uint32_t lane = 0; lane < order_->warp_size; ++lane) {
    const std::uint32_t segment = one.warp.segment_at[lane];
    if (segment == kNoSegment) {
      continue;
    }
    ++lanes;
    if ((state_[segment] & kLast) == 0) {
      state_[segment + 1] |= kWaiting;
      --waits_[exchange].coming;
      exchanges_[exchange]->arrive({segment + 1, one.rank, static_cast<std::uint8_t>(lane)}, now_cycles);
    }
  }
  --waits_[exchange].running;
  alive_.erase(found);
  return lanes;
}

void FormingWarps::release(std::uint32_t exchange, double now_cycles, bool starved) {
  Wait& wait = waits_[exchange];
  released_.clear();
  exchanges_[exchange]->release(now_cycles, starved, released_);
  for (const FormedWarp& warp : released_) {
    std::uint32_t lanes = 0;
    for (std::uint32_t lane = 0; lane < scheduler::kMaxWarpSize; ++lane) {
      const std::uint32_t segment = warp.segment_at[lane];
      if (segment == kNoSegment) {
        continue;
      }
      if (lane >= order_->warp_size || segment >= state_.size() || (state_[segment] & kWaiting) == 0) {
        broken("releases a thread that does not wait", fmt::format("segment {} in lane {}", segment, lane),
               "segments that have arrived, once each");
      }
      state_[segment] &= static_cast<std::uint8_t>(~kWaiting);
      wait.coming += (state_[segment] & kLast) == 0 ? 1U : 0U;
      ++lanes;
    }
    if (lanes == 0) {
      broken("releases a warp without threads", "", "at least one");
    }
    const std::uint32_t number = launch_warps() + formed_++;
    alive_[number].warp = warp;
    wait.ready.push_back(number);
  }
}

void FormingWarps::ask(std::uint32_t exchange, double now_cycles) {
  release(exchange, now_cycles, false);
}

void FormingWarps::ask_at_deadline(std::uint32_t exchange, double now_cycles) {
  release(exchange, now_cycles, false);
  if (deadline(exchange) <= now_cycles) {
    broken("asks again for a time that has passed", fmt::format("{} at {}", deadline(exchange), now_cycles),
           "a later time");
  }
}

double FormingWarps::deadline(std::uint32_t exchange) const {
  return waiting(exchange) > 0 ? exchanges_[exchange]->deadline_cycles() : scheduler::kNever;
}

bool FormingWarps::is_starved(std::uint32_t exchange, bool launch_left) const {
  const Wait& wait = waits_[exchange];
  return waiting(exchange) > 0 && wait.coming == 0 && wait.ready.empty() &&
         (!launch_left || (wait.running == 0 && !admits(exchange)));
}

void FormingWarps::feed(std::uint32_t exchange, double now_cycles) {
  release(exchange, now_cycles, true);
  if (waits_[exchange].ready.empty()) {
    broken("keeps threads for ever", fmt::format("{} threads wait", waiting(exchange)),
           "a warp when nothing else can bring more threads");
  }
}

}  // namespace rayreplay::machine
