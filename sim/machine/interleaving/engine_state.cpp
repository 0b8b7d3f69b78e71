#include "sim/machine/interleaving/engine_state.hpp"

#include "sim/machine/cache_geometry.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::size_t kBlockTransactions = 1U << 12U;
constexpr std::size_t kBlockRequests = 1U << 16U;
constexpr std::size_t kLeastAhead = 256;  // items: enough to make in parallel

std::uint64_t horizon(const Machine& machine, const InterleaveOptions& options) {
  const std::uint32_t latency =
      std::max({machine.l1_latency_cycles, machine.l2_latency_cycles, machine.dram_latency_cycles});
  return std::uint64_t{latency} + options.compute_cycles + 2;
}

}  // namespace

EngineState::EngineState(const InterleaveCall& call)
    : wake(std::uint64_t{call.machine.sms} * (call.options.resident_warps + 1), horizon(call.machine, call.options)),
      active(call.machine.sms),
      warps(std::size_t{call.machine.sms} * call.options.resident_warps),
      sms(call.machine.sms),
      call_(call),
      l1_geometry_(l1_geometry(call.machine)),
      l2_geometry_(l2_geometry(call.machine)),
      map_(call.source.coalescing(), l1_geometry_, l2_geometry_, "machine '" + call.machine.name + "'"),
      resident_(call.options.resident_warps),
      l1_latency_(call.machine.l1_latency_cycles),
      l2_latency_(call.machine.l2_latency_cycles),
      dram_latency_(call.machine.dram_latency_cycles),
      has_l1_(l1_geometry_.bytes != 0),
      has_l2_(l2_geometry_.bytes != 0),
      per_sm_(call.plan.queues() != 1 || call.machine.sms == 1),
      supply_(call.source, call.plan, std::max(kLeastAhead, warps.size() / 4), call.options.raw != nullptr),
      streams_(warps.size()),
      free_slots_(call.machine.sms),
      vacant_sms_(call.machine.sms),
      l2_(l2_geometry_) {
  sm_of_.reserve(warps.size());
  l1_.reserve(sms.size());
  for (std::uint32_t sm = 0; sm < sms.size(); ++sm) {
    sm_of_.insert(sm_of_.end(), resident_, static_cast<std::uint16_t>(sm));
    l1_.emplace_back(l1_geometry_);
    returns_.emplace_back(call.machine.outstanding_misses);
    vacant_sms_.insert(sm);
    for (std::uint32_t slot = 0; slot < resident_; ++slot) {
      free_slots_[sm].insert(slot);
    }
  }
  block_.transactions.reserve(kBlockTransactions);
}

void EngineState::end_warp(std::uint32_t sm, std::uint32_t slot) {
  free_slots_[sm].insert(slot);
  --sms[sm].running;
  vacant_sms_.insert(sm);
  vacant_ = true;
}

void EngineState::begin_instruction(std::uint32_t sm, std::uint32_t slot) {
  SmState& unit = sms[sm];
  unit.warp = sm * resident_ + slot;
  unit.begun = false;
  unit.completes = 0;
  const WarpState& warp = warps[unit.warp];
  unit.next = warp.transactions + warp.first[warp.next];
  unit.end = warp.transactions + warp.first[warp.next + 1];
  bring_near(unit.next);
}

bool EngineState::issue_transaction(std::uint32_t sm, std::uint64_t cycle) {
  SmState& unit = sms[sm];
  const memory::Transaction& transaction = *unit.next;
  std::uint8_t flags = transaction.flags & (memory::kStore | memory::kFirst);
  std::uint64_t completes = cycle + 1;
  if ((flags & memory::kStore) != 0) {
    store(sm, transaction);
  } else {
    completes = load(sm, transaction, cycle, flags);
    if (completes == 0) {
      return false;
    }
  }
  if (!unit.begun) {
    unit.begun = true;
    ++unit.instructions;
    if (call_.options.raw != nullptr) {
      const WarpState& warp = warps[unit.warp];
      call_.options.raw->take(sm, warp.item, cycle, streams_[unit.warp].raw, warp.next);
    }
  }
  emit(unit, sm, transaction, flags, cycle);
  unit.completes = std::max(unit.completes, completes);
  ++unit.next;
  return true;
}

/// When it completes; 0 if it has to wait for a miss to return.
std::uint64_t EngineState::load(std::uint32_t sm, const memory::Transaction& transaction, std::uint64_t cycle,
                                std::uint8_t& flags) {
  const std::uint8_t wanted = map_.l1_sectors(transaction.sectors);
  TimingCache::Line* line = has_l1_ ? l1_[sm].find(transaction.line) : nullptr;
  const auto missing = static_cast<std::uint8_t>(line == nullptr ? wanted : wanted & ~line->sectors);
  const bool waits = line != nullptr && line->waits(wanted, cycle);
  if (missing == 0) {
    if (waits) {
      ++result_.merged;
      flags |= memory::kTimedMerged;
      return std::max(cycle + l1_latency_, line->returns);
    }
    ++result_.l1_hits;
    flags |= memory::kTimedHit;
    return cycle + l1_latency_;
  }
  SmState& unit = sms[sm];
  if (!returns_[sm].has_room(cycle)) {
    unit.waits = true;
    const std::uint64_t until = returns_[sm].first();
    result_.stalled_cycles += until - cycle;
    wake.add(static_cast<std::uint32_t>(warps.size()) + sm, until);
    return 0;
  }
  const Served served = ask_l2(transaction.line, has_l1_ ? map_.units(missing) : transaction.sectors, cycle);
  if (served.hit) {
    ++result_.l2_hits;
    flags |= memory::kTimedL2Hit;
  } else {
    ++result_.dram;
  }
  std::uint64_t returns = served.returns;
  auto from = returns != cycle + (served.hit ? l2_latency_ : dram_latency_) ? MissReturns::From::Earlier
              : served.hit                                                  ? MissReturns::From::L2
                                                                            : MissReturns::From::Memory;
  if (has_l1_) {
    if (line == nullptr) {
      line = &l1_[sm].insert(transaction.line);
    }
    line->ask(missing, served.returns, cycle);
    if (line->returns != returns) {
      from = MissReturns::From::Earlier;
      returns = line->returns;
    }
  }
  returns_[sm].add(returns, from);
  return returns;
}

void EngineState::store(std::uint32_t sm, const memory::Transaction& transaction) {
  if (has_l1_) {
    (void)l1_[sm].find(transaction.line);
  }
  if (!has_l2_) {
    return;
  }
  map_.each_l2_line(transaction.line, transaction.sectors, [&](std::uint64_t number, std::uint8_t sectors) {
    TimingCache::Line* line = l2_.find(number);
    if (line == nullptr) {
      line = &l2_.insert(number);
    }
    line->sectors = static_cast<std::uint8_t>(line->sectors | sectors);
    line->coming = static_cast<std::uint8_t>(line->coming & ~sectors);
  });
}

EngineState::Served EngineState::ask_l2(std::uint64_t line_number, std::uint8_t units, std::uint64_t cycle) {
  if (!has_l2_) {
    return {.returns = cycle + dram_latency_, .hit = false};
  }
  Served served{.returns = 0, .hit = true};
  map_.each_l2_line(line_number, units, [&](std::uint64_t number, std::uint8_t sectors) {
    TimingCache::Line* line = l2_.find(number);
    const auto missing = static_cast<std::uint8_t>(line == nullptr ? sectors : sectors & ~line->sectors);
    if (line != nullptr && line->waits(sectors, cycle)) {
      served.returns = std::max(served.returns, line->returns);
    }
    if (missing != 0) {
      served.hit = false;
      if (line == nullptr) {
        line = &l2_.insert(number);
      }
      line->ask(missing, cycle + dram_latency_, cycle);
    }
  });
  served.returns = std::max(served.returns, cycle + (served.hit ? l2_latency_ : dram_latency_));
  return served;
}

void EngineState::end_instruction(std::uint32_t sm) {
  SmState& unit = sms[sm];
  WarpState& warp = warps[unit.warp];
  unit.last_cycle = std::max(unit.last_cycle, unit.completes);
  ++warp.next;
  const bool last = warp.next == warp.instructions;
  wake.add(unit.warp, last ? unit.completes : unit.completes + call_.options.compute_cycles);
}

void EngineState::emit(SmState& unit, std::uint32_t sm, const memory::Transaction& transaction, std::uint8_t flags,
                       std::uint64_t cycle) {
  memory::Transaction& issued = block_.transactions.emplace_back(transaction);
  issued.sm = static_cast<std::uint16_t>(sm);
  issued.flags = flags;
  WarpState& warp = warps[unit.warp];
  if (warp.request != nullptr) {
    block_.requests.insert(block_.requests.end(), warp.request, warp.request + transaction.lanes);
    warp.request += transaction.lanes;
  }
  if (call_.options.cycles) {
    block_.cycles.push_back(cycle);
  }
  if (block_.transactions.size() >= kBlockTransactions || block_.requests.size() >= kBlockRequests) {
    hand_over();
  }
}

void EngineState::hand_over() {
  result_.transactions += block_.transactions.size();
  call_.sink.take(block_);
  block_.clear();
}

InterleaveResult EngineState::finish() {
  if (!block_.transactions.empty()) {
    hand_over();
  }
  for (const SmState& unit : sms) {
    result_.instructions += unit.instructions;
    result_.cycles = std::max(result_.cycles, unit.last_cycle);
    result_.sm_instructions.push_back(unit.instructions);
    result_.sm_last_cycle.push_back(unit.last_cycle);
  }
  return std::move(result_);
}

}  // namespace rayreplay::machine
