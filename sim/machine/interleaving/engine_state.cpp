#include "sim/machine/interleaving/engine_state.hpp"

#include <bit>

#include "sim/machine/cache_geometry.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::size_t kBlockTransactions = 1U << 12U;
constexpr std::size_t kBlockRequests = 1U << 16U;
constexpr std::size_t kMinAhead = 256;                // items: enough for parallel generation
constexpr std::uint64_t kMaxWindowCycles = 1U << 9U;  // so that a window's transactions stay in the processor's cache
constexpr std::uint64_t kMaxIssued = 1U << 17U;       // of all SMs
constexpr std::size_t kAheadPlaces = 24, kAheadLines = 12;

/// At most the shortest miss latency, so that nothing requested in a window returns within it, and at most the time of
/// a signal between SMs.
std::uint64_t window_cycles(const Machine& machine, bool has_l2, bool signals) {
  const std::uint64_t least = has_l2 || signals ? std::min(machine.l2_latency_cycles, machine.dram_latency_cycles)
                                                : machine.dram_latency_cycles;
  return std::clamp<std::uint64_t>(least, 1, std::clamp<std::uint64_t>(kMaxIssued / machine.sms, 1, kMaxWindowCycles));
}

}  // namespace

EngineState::EngineState(const InterleaveCall& call)
    : call_(call),
      l1_geometry_(l1_geometry(call.machine)),
      l2_geometry_(l2_geometry(call.machine)),
      map_(call.source.coalescing(), l1_geometry_, l2_geometry_, "machine '" + call.machine.name + "'"),
      resident_(call.options.resident_warps),
      l1_latency_(call.machine.l1_latency_cycles),
      has_l1_(l1_geometry_.bytes != 0),
      has_l2_(l2_geometry_.bytes != 0),
      bandwidth_(call.machine, call.source.coalescing().sector_bytes, has_l2_, call.options.work, call.options.history),
      streams_outlive_(call.source.coalescing().requests || call.options.raw != nullptr),
      has_details_(streams_outlive_ || call.options.cycles),
      length_(window_cycles(call.machine, has_l2_, call.dispatcher.signals())),
      supply_(call.source, call.dispatcher,
              std::max(kMinAhead, std::size_t{call.machine.sms} * call.options.resident_warps / 4),
              call.options.raw != nullptr, call.options.work),
      warps_(std::size_t{call.machine.sms} * call.options.resident_warps),
      streams_(warps_.size()),
      l2_(l2_geometry_),
      begin_(length_ + 1) {
  if (call.options.work) {
    rules_.emplace(call.machine, call.options.compute_cycles);
    progress_.resize(warps_.size());
  }
  units.reserve(call.machine.sms);
  for (std::uint32_t sm = 0; sm < call.machine.sms; ++sm) {
    units.emplace_back(sm, l1_geometry_, call.machine.outstanding_misses, resident_);
    if (rules_) {
      units[sm].work = rules_->idle_sm();
    }
    if (sm < call.dispatcher.first_sm()) {
      units[sm].vacant = false;
      units[sm].time = SmUnit::kNever;
      continue;
    }
    for (std::uint32_t slot = 0; slot < resident_; ++slot) {
      units[sm].free_slots.insert(slot);
    }
  }
  block_.transactions.reserve(kBlockTransactions);
}

WorkRules::Next EngineState::begin_work(SmUnit& unit, std::uint32_t slot, const memory::WarpStream& stream,
                                        std::uint64_t cycle) {
  const std::uint32_t id = unit.sm * resident_ + slot;
  progress_[id] = {.row = stream.work.data(), .last = stream.transactions.empty()};
  const auto& delays = call_.options.start_delay;
  const std::uint32_t delay = delays.empty() ? 0 : delays[std::min<std::size_t>(warps_[id].item, delays.size() - 1)];
  if (delay == 0) {
    return go_on(unit, slot, cycle);
  }
  unit.work.spend(memory::WorkStage::Exchange, WarpWait::Reorder, cycle, cycle + delay);
  unit.wakes.add(cycle + delay, slot);
  return WorkRules::Next::Waits;
}

bool EngineState::issue(SmUnit& unit, std::uint64_t cycle) {
  WarpState& warp = this->warp(unit, unit.slot);
  const memory::Transaction& transaction = *warp.next;
  if ((transaction.flags & memory::kStore) != 0) {
    if (has_l1_) {
      (void)unit.l1.find(transaction.line);
    }
    unit.record(transaction, transaction.flags & (memory::kStore | memory::kFirst), cycle - window_, SmUnit::kNone);
    warp.completes = std::max(warp.completes, cycle + 1);
  } else if (!load(unit, warp, transaction, cycle)) {
    return false;
  }
  if ((transaction.flags & memory::kFirst) != 0) {
    ++unit.instructions;
    if (call_.options.raw != nullptr) {
      unit.raw.push_back({&streams_[unit.sm * resident_ + unit.slot]->raw, warp.row, warp.item});
    }
    ++warp.row;
  }
  if (warp.request != nullptr) {
    unit.requests.push_back(warp.request);
    warp.request += transaction.lanes;
  }
  ++warp.next;
  bring_near(warp.next + 4);  // the stream's next cache line, for a later cycle
  if (warp.next != warp.end && (warp.next->flags & memory::kFirst) == 0) {
    return false;
  }
  unit.holds = false;
  if (rules_) {
    WarpProgress& progress = progress_[unit.sm * resident_ + unit.slot];
    progress.issued = cycle;
    progress.started = true;
    progress.last = warp.next == warp.end;
    ++progress.row;
    if (progress.row->follows) {
      return true;
    }
  }
  if (warp.waits) {
    unit.ended.push_back(unit.slot);
  } else {
    completed(unit, warp, unit.slot);
  }
  return false;
}

bool EngineState::load(SmUnit& unit, WarpState& warp, const memory::Transaction& transaction, std::uint64_t cycle) {
  const std::uint8_t wanted = map_.l1_sectors(transaction.sectors);
  TimingCache::Line* line = has_l1_ ? unit.l1.find(transaction.line) : nullptr;
  const auto missing = static_cast<std::uint8_t>(line == nullptr ? wanted : wanted & ~line->sectors);
  std::uint8_t flags = transaction.flags & memory::kFirst;
  std::uint32_t miss = SmUnit::kNone;
  if (missing == 0) {
    warp.completes = std::max(warp.completes, cycle + l1_latency_);
    if (line->waits(wanted, cycle)) {
      ++unit.merged;
      flags |= memory::kTimedMerged;
      served_by(unit, WarpWait::Merged, unit.slot);
      if ((line->returns & SmUnit::kLater) != 0) {
        unit.waiters.push_back({static_cast<std::uint32_t>(line->returns), unit.slot});
        warp.waits = true;
      } else {
        warp.completes = std::max(warp.completes, line->returns);
      }
    } else {
      ++unit.l1_hits;
      flags |= memory::kTimedHit;
    }
  } else {
    if (!holds_another(unit, cycle)) {
      return false;
    }
    miss = static_cast<std::uint32_t>(unit.misses.size());
    unit.misses.push_back({0, 0, 0, has_l1_ ? map_.units(missing) : transaction.sectors, MissReturns::From::L2, false});
    if (has_l1_) {
      if (line == nullptr) {
        line = unit.l1.insert(transaction.line).line;
      }
      unit.misses.back().before = line->returns;
      unit.misses.back().l1_line = unit.l1.index_of(*line);
      line->ask(missing, SmUnit::kLater + miss, cycle);
    }
    unit.waiters.push_back({miss, unit.slot});
    warp.waits = true;
  }
  unit.record(transaction, flags, cycle - window_, miss);
  return true;
}

/// Reserves one of the SM's MSHRs; false: none is free, and the SM waits.
bool EngineState::holds_another(SmUnit& unit, std::uint64_t cycle) const {
  if (unit.returns.has_room(cycle)) {
    unit.returns.hold();
    return true;
  }
  unit.waits = true;
  unit.since = cycle;
  unit.until = unit.returns.first();
  unit.open = unit.until >= window_end();  // one requested in this window may return before
  if (unit.open) {
    unit.until = SmUnit::kNever;
  } else {
    unit.mshr_stall_cycles += unit.until - cycle;
  }
  return false;
}

/// Of the waiters with a miss's number, the first is the access that missed; later ones merged.
void EngineState::settle_states(const SmUnit& unit) {
  std::uint32_t next_miss = 0;
  for (const SmUnit::Waiter& waiter : unit.waiters) {
    if (waiter.miss == next_miss) {
      served_by(unit, unit.misses[next_miss].from_dram ? WarpWait::Dram : WarpWait::L2, waiter.slot);
      ++next_miss;
    }
  }
}

/// Notes `where` as a source of the data of the warp's clause.
void EngineState::served_by(const SmUnit& unit, WarpWait where, std::uint32_t slot) {
  if (rules_) {
    WarpWait& served = progress_[unit.sm * resident_ + slot].served;
    served = std::max(served, where);
  }
}

void EngineState::completed(SmUnit& unit, const WarpState& warp, std::uint32_t slot) {
  if (rules_) {
    WarpProgress& progress = progress_[unit.sm * resident_ + slot];
    progress.part = WorkPart::Tests;
    const memory::WorkStage stage = (progress.row - 1)->stages.access();  // of the clause's last instruction
    unit.work.spend(stage, WarpWait::LoadUnit, progress.since, progress.issued);
    unit.work.spend(stage, progress.served, progress.issued, warp.completes);
    unit.wakes.add(warp.completes, slot);
    return;
  }
  unit.last_cycle = std::max(unit.last_cycle, warp.completes);
  const bool last = warp.next == warp.end;
  unit.wakes.add(last ? warp.completes : warp.completes + call_.options.compute_cycles, slot);
}

std::uint64_t EngineState::open_window() {
  window_ = SmUnit::kNever;
  for (const SmUnit& unit : units) {
    window_ = std::min(window_, unit.time);
  }
  if (rules_ && window_ != SmUnit::kNever && window_ > kMaxCycles) {
    throw_too_long("the launch takes too long", static_cast<double>(window_), static_cast<double>(kMaxCycles));
  }
  return window_;
}

/// Counting sort: an SM issues at most once a cycle.
void EngineState::sort_issued() {
  std::fill(begin_.begin(), begin_.end(), 0);
  for (const SmUnit& unit : units) {
    for (const SmUnit::Issued& issued : unit.issued) {
      ++begin_[issued.offset + 1];
    }
  }
  for (std::size_t cycle = 1; cycle < begin_.size(); ++cycle) {
    begin_[cycle] += begin_[cycle - 1];
  }
  order_.resize(begin_.back());
  from_.resize(streams_outlive_ ? order_.size() : 0);
  for (const SmUnit& unit : units) {
    for (std::uint32_t index = 0; index < unit.issued.size(); ++index) {
      const std::uint32_t place = begin_[unit.issued[index].offset]++;
      order_[place] = unit.issued[index];
      if (streams_outlive_) {
        from_[place] = index;
      }
    }
  }
}

void EngineState::close_window() {
  sort_issued();
  const std::size_t n = order_.size();
  raw_next_.assign(call_.options.raw != nullptr ? units.size() : 0, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAheadPlaces < n) {
      prefetch_places(order_[i + kAheadPlaces]);
    }
    if (i + kAheadLines < n) {
      prefetch_lines(order_[i + kAheadLines]);
    }
    serve(order_[i]);
    block_.transactions.push_back(order_[i].transaction);
    if (has_details_) {
      emit_details(order_[i], streams_outlive_ ? from_[i] : 0);
    }
    if (block_.transactions.size() >= kBlockTransactions || block_.requests.size() >= kBlockRequests) {
      hand_over();
    }
  }
  for (SmUnit& unit : units) {
    if (!unit.issued.empty() || unit.open) {
      settle(unit);
    }
  }
  for (const std::uint32_t item : retired_) {
    supply_.give_back(item);
  }
  retired_.clear();
}

void EngineState::prefetch_places(const SmUnit::Issued& issued) const {
  if (asks_l2(issued)) {
    l2_.prefetch(map_.first_l2_line(issued.transaction.line));
  }
}

void EngineState::prefetch_lines(const SmUnit::Issued& issued) const {
  if (asks_l2(issued)) {
    map_.each_l2_line(issued.transaction.line, issued.transaction.sectors,
                      [this](std::uint64_t number, std::uint8_t /*sectors*/) { l2_.prefetch_line(number); });
  }
}

/// The effect on the L2.
void EngineState::serve(SmUnit::Issued& issued) {
  memory::Transaction& transaction = issued.transaction;
  const std::uint64_t cycle = window_ + issued.offset;
  if ((transaction.flags & memory::kStore) != 0) {
    store(transaction, cycle);
    return;
  }
  if (issued.miss == SmUnit::kNone) {
    return;
  }
  SmUnit::Miss& miss = units[transaction.sm].misses[issued.miss];
  const MemoryBandwidth::Returns returns = bandwidth_.ask(cycle, miss.units);
  const Served served = ask_l2(transaction.line, miss.units, cycle, returns);
  if (served.hit) {
    ++result_.l2_hits;
    transaction.flags |= memory::kTimedL2Hit;
  } else {
    ++result_.dram;
    bandwidth_.fetch(served.missing);
    bandwidth_.write_back(served.written_back);
  }
  miss.returns = served.returns;
  miss.from_dram = !served.hit;
  miss.from = served.returns != (served.hit ? returns.from_l2 : returns.from_dram) ? MissReturns::From::Earlier
              : served.hit                                                         ? MissReturns::From::L2
                                                                                   : MissReturns::From::Dram;
}

void EngineState::store(const memory::Transaction& transaction, std::uint64_t cycle) {
  bandwidth_.store(cycle, transaction.sectors);
  if (!has_l2_) {
    return;
  }
  std::uint32_t written_back = 0;
  map_.each_l2_line(transaction.line, transaction.sectors, [&](std::uint64_t number, std::uint8_t sectors) {
    TimingCache::Line* line = l2_.find(number);
    if (line == nullptr) {
      line = insert_l2(number, written_back);
    }
    line->store(sectors);
  });
  bandwidth_.write_back(written_back);
}

/// Adds the bytes that the L2 writes back for it.
TimingCache::Line* EngineState::insert_l2(std::uint64_t number, std::uint32_t& written_back) {
  const TimingCache::Inserted inserted = l2_.insert(number);
  if (inserted.written_back != 0) {
    written_back += static_cast<std::uint32_t>(std::popcount(inserted.written_back)) * l2_geometry_.sector();
  }
  return inserted.line;
}

EngineState::Served EngineState::ask_l2(std::uint64_t line_number, std::uint8_t units_asked, std::uint64_t cycle,
                                        MemoryBandwidth::Returns returns) {
  if (!has_l2_) {
    return {.returns = returns.from_dram, .hit = false, .missing = bandwidth_.bytes_of(units_asked), .written_back = 0};
  }
  Served served{.returns = 0, .hit = true, .missing = 0, .written_back = 0};
  map_.each_l2_line(line_number, units_asked, [&](std::uint64_t number, std::uint8_t sectors) {
    TimingCache::Line* line = l2_.find(number);
    const auto missing = static_cast<std::uint8_t>(line == nullptr ? sectors : sectors & ~line->sectors);
    if (line != nullptr && line->waits(sectors, cycle)) {
      served.returns = std::max(served.returns, line->returns);
    }
    if (missing != 0) {
      served.hit = false;
      if (rules_) {
        served.missing += static_cast<std::uint32_t>(std::popcount(missing)) * l2_geometry_.sector();
      }
      if (line == nullptr) {
        line = insert_l2(number, served.written_back);
      }
      line->ask(missing, returns.from_dram, cycle);
    }
  });
  served.returns = std::max(served.returns, served.hit ? returns.from_l2 : returns.from_dram);
  return served;
}

void EngineState::emit_details(const SmUnit::Issued& issued, std::uint32_t index) {
  const memory::Transaction& transaction = issued.transaction;
  const std::uint64_t cycle = window_ + issued.offset;
  if (streams_outlive_) {
    const SmUnit& unit = units[transaction.sm];
    if (!raw_next_.empty() && (transaction.flags & memory::kFirst) != 0) {
      const SmUnit::Raw& raw = unit.raw[raw_next_[unit.sm]++];
      call_.options.raw->take(unit.sm, raw.item, cycle, *raw.rows, raw.row);
    }
    if (!unit.requests.empty()) {
      const memory::Request* const request = unit.requests[index];
      block_.requests.insert(block_.requests.end(), request, request + transaction.lanes);
    }
  }
  if (call_.options.cycles) {
    block_.cycles.push_back(cycle);
  }
}

void EngineState::hand_over() {
  result_.transactions += block_.transactions.size();
  call_.sink.take(block_);
  block_.clear();
}

/// Sets the return times of the SM's misses in this window, and wakes what waits for them.
void EngineState::settle(SmUnit& unit) {
  for (std::uint32_t number = 0; number < unit.misses.size(); ++number) {
    SmUnit::Miss& miss = unit.misses[number];
    const std::uint64_t before = (miss.before & SmUnit::kLater) != 0
                                     ? unit.misses[static_cast<std::uint32_t>(miss.before)].returns
                                     : miss.before;
    if (before > miss.returns) {
      miss.returns = before;
      miss.from = MissReturns::From::Earlier;
    }
    if (has_l1_) {
      TimingCache::Line& line = unit.l1.line(miss.l1_line);
      if (line.returns == SmUnit::kLater + number) {
        line.returns = miss.returns;
      }
    }
    unit.returns.add(miss.returns, miss.from);
  }
  for (const SmUnit::Waiter& waiter : unit.waiters) {
    WarpState& warp = this->warp(unit, waiter.slot);
    warp.completes = std::max(warp.completes, unit.misses[waiter.miss].returns);
    warp.waits = false;  // what its instruction or clause has still to issue may wait again
  }
  if (rules_) {
    settle_states(unit);
  }
  for (const std::uint32_t slot : unit.ended) {
    completed(unit, warp(unit, slot), slot);
  }
  if (unit.open) {
    unit.open = false;
    unit.until = unit.returns.first();
    unit.mshr_stall_cycles += unit.until - unit.since;
  }
  unit.time = std::min({unit.time, unit.wakes.first(), unit.waits ? unit.until : SmUnit::kNever});
  if (call_.options.history != nullptr) {
    remember(unit);
  }
  unit.issued.clear();
  unit.misses.clear();
  unit.waiters.clear();
  unit.ended.clear();
  unit.requests.clear();
  unit.raw.clear();
}

/// The loads of this window, for the history.
void EngineState::remember(const SmUnit& unit) const {
  for (const SmUnit::Issued& issued : unit.issued) {
    if ((issued.transaction.flags & memory::kStore) != 0) {
      continue;
    }
    const std::uint64_t cycle = window_ + issued.offset;
    call_.options.history->access(unit.sm, cycle);
    if (issued.miss != SmUnit::kNone) {
      const SmUnit::Miss& miss = unit.misses[issued.miss];
      call_.options.history->miss(unit.sm, cycle, miss.returns, miss.from_dram);
    }
  }
}

/// Memory time: the split of each SM's cycles, and the totals of all servers.
void EngineState::add_time() {
  constexpr auto kTicksOfCycle = static_cast<double>(kTicks);
  std::uint64_t issue = 0, ray_unit = 0;
  for (SmUnit& unit : units) {
    SmTime& time = result_.time.sms.emplace_back();
    time.busy = unit.work.busy;
    time.barrier = unit.last_cycle - time.busy;
    time.idle = result_.cycles - unit.last_cycle;
    for (std::size_t stage = 0; stage < memory::kWorkStages; ++stage) {
      for (std::size_t state = 0; state < kWarpWaits; ++state) {
        time.waits[state] += unit.work.spent[stage][state];
        result_.time.stages[stage][state] += unit.work.spent[stage][state];
      }
    }
    ray_unit += unit.work.ray_unit.served();
    for (const Server& partition : unit.work.partitions) {
      issue += partition.served();
    }
  }
  result_.time.issue_cycles = static_cast<double>(issue) / kTicksOfCycle;
  result_.time.ray_unit_cycles = static_cast<double>(ray_unit) / kTicksOfCycle;
  result_.time.calls = supply_.calls();
  bandwidth_.add_to(result_.time);
}

InterleaveResult EngineState::finish() {
  if (!block_.transactions.empty()) {
    hand_over();
  }
  for (const SmUnit& unit : units) {
    result_.instructions += unit.instructions;
    result_.l1_hits += unit.l1_hits;
    result_.merged += unit.merged;
    result_.mshr_stall_cycles += unit.mshr_stall_cycles;
    result_.cycles = std::max(result_.cycles, unit.last_cycle);
    result_.sm_instructions.push_back(unit.instructions);
    result_.sm_last_cycle.push_back(unit.last_cycle);
  }
  if (rules_) {
    result_.cycles = std::max(result_.cycles, bandwidth_.last_cycle());
    add_time();
  }
  if (call_.options.history != nullptr) {
    call_.options.history->finish(result_.cycles);
  }
  return std::move(result_);
}

}  // namespace rayreplay::machine
