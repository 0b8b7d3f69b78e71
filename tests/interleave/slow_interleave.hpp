// The rules of sim/machine/interleave.hpp once more, cycle by cycle, with lists and maps: slow, and easy to believe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/machine/interleave.hpp"
#include "tests/interleave/slow_dispatch.hpp"

namespace rayreplay::test {

/// Byte ranges are cut into sectors anew for each cache; a sector is named by its address.
class SlowCache {
 public:
  SlowCache(std::uint64_t bytes, std::uint32_t line, std::uint32_t ways, std::uint32_t sector)
      : line_(line), sector_(sector) {
    const std::uint64_t lines = bytes / line;
    ways_ = ways == 0 ? lines : ways;
    sets_.resize(bytes == 0 ? 0 : lines / ways_);
  }

  [[nodiscard]] bool exists() const {
    return !sets_.empty();
  }
  struct Line {
    std::uint64_t number = 0;
    std::map<std::uint64_t, std::uint64_t> returns;  ///< of sectors, by address
  };
  using Set = std::list<Line>;  // last used first

  /// Sectors of the bytes, by line.
  [[nodiscard]] std::map<std::uint64_t, std::set<std::uint64_t>> cut(const std::set<std::uint64_t>& words) const {
    std::map<std::uint64_t, std::set<std::uint64_t>> result;
    for (const std::uint64_t word : words) {
      result[word / line_].insert(word / sector_ * sector_);
    }
    return result;
  }
  [[nodiscard]] std::uint32_t sector() const {
    return sector_;
  }
  [[nodiscard]] const Line* look(std::uint64_t number) const {
    const Set& set = sets_[number % sets_.size()];
    const auto at = std::find_if(set.begin(), set.end(), [&](const Line& line) { return line.number == number; });
    return at == set.end() ? nullptr : &*at;
  }
  /// The line becomes the last used one; `make`: even if it is not there.
  Line* touch(std::uint64_t number, bool make) {
    Set& set = sets_[number % sets_.size()];
    const auto at = std::find_if(set.begin(), set.end(), [&](const Line& line) { return line.number == number; });
    if (at != set.end()) {
      set.splice(set.begin(), set, at);
    } else if (!make) {
      return nullptr;
    } else {
      if (set.size() == ways_) {
        set.pop_back();
      }
      set.push_front({number, {}});
    }
    return &set.front();
  }

  /// Asks for sectors that the line lacks; all that are on their way return together.
  static std::uint64_t ask(Line& line, const std::set<std::uint64_t>& sectors, std::uint64_t when,
                           std::uint64_t cycle) {
    for (const auto& [sector, returns] : line.returns) {
      when = std::max(when, returns > cycle ? returns : 0);
    }
    for (auto& [sector, returns] : line.returns) {
      returns = returns > cycle ? when : returns;
    }
    for (const std::uint64_t sector : sectors) {
      line.returns[sector] = when;
    }
    return when;
  }

 private:
  std::uint32_t line_, sector_;
  std::uint64_t ways_ = 0;
  std::vector<Set> sets_;
};

class SlowInterleave {
 public:
  SlowInterleave(const std::vector<memory::WarpStream>& streams, const memory::CoalesceOptions& coalescing,
                 SlowDispatch& dispatch, const machine::Machine& machine, const machine::InterleaveOptions& options)
      : streams_(streams),
        coalescing_(coalescing),
        dispatch_(dispatch),
        machine_(machine),
        options_(options),
        l2_(machine.l2_bytes, machine.l2_line_bytes, machine.l2_ways, machine.l2_sector_bytes) {
    for (std::uint32_t sm = 0; sm < machine.sms; ++sm) {
      sms_.push_back({.l1 = {machine.l1_bytes, machine.l1_line_bytes, machine.l1_ways, machine.l1_sector_bytes},
                      .slots = std::vector<std::optional<Warp>>(options.resident_warps)});
    }
    result.sm_instructions.resize(machine.sms);
    result.sm_last_cycle.resize(machine.sms);
  }

  void run() {
    for (std::uint64_t cycle = 0; work_left(); ++cycle) {
      for (std::uint32_t number = 0; number < sms_.size(); ++number) {
        Sm& sm = sms_[number];
        for (auto& slot : sm.slots) {
          if (slot && slot->next == streams_[slot->item].instructions() && slot->ready <= cycle &&
              !is_issuing(sm, slot)) {
            dispatch_.ended(slot->item, number, cycle);
            slot.reset();
          }
        }
      }
      fill(cycle);
      for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
        issue(sm, cycle);
        most_running = std::max(most_running, running(sms_[sm]));
      }
    }
    for (const std::uint64_t last : result.sm_last_cycle) {
      result.cycles = std::max(result.cycles, last);
    }
  }

  machine::InterleaveResult result;
  memory::TransactionBlock all;
  std::vector<std::uint32_t> items;        ///< of each transaction
  std::vector<std::uint64_t> completions;  ///< of each transaction
  std::uint32_t most_running = 0;

 private:
  struct Warp {
    std::uint32_t item = 0;
    std::size_t next = 0;  ///< instruction
    std::uint64_t ready = 0;
    std::uint64_t started = 0;
    std::size_t request = 0;
  };
  struct Sm {
    SlowCache l1;
    std::vector<std::optional<Warp>> slots;
    std::optional<std::uint32_t> issuing{};  ///< slot
    std::size_t transaction = 0;
    std::uint64_t completes = 0;
    std::uint32_t turn = 0;
    std::optional<std::uint64_t> greedy{};  ///< `started` of the warp that issued last
    std::uint64_t draws = 0;
    std::uint64_t starts = 0;
    std::vector<std::uint64_t> misses{};  ///< when they return
  };

  static bool is_issuing(const Sm& sm, const std::optional<Warp>& slot) {
    return sm.issuing && &sm.slots[*sm.issuing] == &slot;
  }
  static std::uint32_t running(const Sm& sm) {
    return static_cast<std::uint32_t>(
        std::count_if(sm.slots.begin(), sm.slots.end(), [](const auto& slot) { return slot.has_value(); }));
  }
  [[nodiscard]] bool work_left() const {
    return dispatch_.work_left() || std::any_of(sms_.begin(), sms_.end(), [](const Sm& sm) { return running(sm) > 0; });
  }

  [[nodiscard]] bool has_room(std::uint32_t sm) const {
    return dispatch_.runs(sm) && running(sms_[sm]) < options_.resident_warps;
  }
  void fill(std::uint64_t cycle) {
    for (;;) {
      for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
        while (has_room(sm)) {
          const auto item = dispatch_.own(sm, cycle);
          if (!item) {
            break;
          }
          start(*item, sm, cycle);
        }
      }
      std::optional<std::uint32_t> chosen;
      for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) {
        if (has_room(sm) && (!chosen || running(sms_[sm]) < running(sms_[*chosen]))) {
          chosen = sm;
        }
      }
      const auto item = chosen ? dispatch_.shared(*chosen, cycle) : std::nullopt;
      if (!item) {
        return;
      }
      start(*item, *chosen, cycle);
    }
  }
  void start(std::uint32_t item, std::uint32_t number, std::uint64_t cycle) {
    ++result.items;
    if (streams_[item].instructions() == 0) {
      dispatch_.ended(item, number, cycle);
      return;
    }
    Sm& sm = sms_[number];
    auto slot = std::find_if(sm.slots.begin(), sm.slots.end(), [](const auto& at) { return !at; });
    *slot = Warp{.item = item, .next = 0, .ready = cycle, .started = sm.starts++};
  }

  std::optional<std::uint32_t> choose(Sm& sm, std::uint32_t number, std::uint64_t cycle) {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t slot = 0; slot < sm.slots.size(); ++slot) {
      if (sm.slots[slot] && sm.slots[slot]->ready <= cycle) {
        ready.push_back(slot);
      }
    }
    if (ready.empty()) {
      return {};
    }
    const auto started = [&](std::uint32_t slot) { return sm.slots[slot]->started; };
    std::uint32_t chosen = ready.front();
    if (options_.warp_scheduler == "loose-round-robin") {
      const auto behind = std::lower_bound(ready.begin(), ready.end(), sm.turn);
      chosen = behind == ready.end() ? ready.front() : *behind;
      sm.turn = chosen + 1;
    } else if (options_.warp_scheduler == "greedy-then-oldest") {
      chosen = *std::min_element(ready.begin(), ready.end(), [&](auto a, auto b) { return started(a) < started(b); });
      for (const std::uint32_t slot : ready) {
        if (sm.greedy == started(slot)) {
          chosen = slot;
        }
      }
      sm.greedy = started(chosen);
    } else {  // random:seed=5
      const std::uint64_t drawn = split_mix(split_mix(5, number), sm.draws++) >> 32U;
      chosen = ready[drawn * ready.size() >> 32U];
    }
    return chosen;
  }

  void issue(std::uint32_t number, std::uint64_t cycle) {
    Sm& sm = sms_[number];
    if (!sm.issuing) {
      sm.issuing = choose(sm, number, cycle);
      if (!sm.issuing) {
        return;
      }
      sm.transaction = 0;
      sm.completes = 0;
    }
    Warp& warp = *sm.slots[*sm.issuing];
    const memory::WarpStream& stream = streams_[warp.item];
    memory::Transaction transaction = stream.transactions[stream.first[warp.next] + sm.transaction];
    transaction.sm = static_cast<std::uint16_t>(number);
    const std::optional<std::uint64_t> completes = access(sm, transaction, cycle);
    if (!completes) {
      ++result.stalled_cycles;
      return;
    }
    all.transactions.push_back(transaction);
    for (std::uint32_t lane = 0; lane < transaction.lanes; ++lane) {
      all.requests.push_back(stream.requests[warp.request++]);
    }
    all.cycles.push_back(cycle);
    items.push_back(warp.item);
    completions.push_back(*completes);
    ++result.transactions;
    sm.completes = std::max(sm.completes, *completes);
    ++sm.transaction;
    if (stream.first[warp.next] + sm.transaction == stream.first[warp.next + 1]) {
      ++warp.next;
      const bool last = warp.next == stream.instructions();
      warp.ready = sm.completes + (last ? 0 : options_.compute_cycles);
      sm.issuing.reset();
      ++result.instructions;
      ++result.sm_instructions[number];
      result.sm_last_cycle[number] = std::max(result.sm_last_cycle[number], sm.completes);
    }
  }

  /// Of what the transaction touches, every fourth byte's address.
  [[nodiscard]] std::set<std::uint64_t> words(const memory::Transaction& transaction) const {
    std::set<std::uint64_t> result_words;
    for (std::uint32_t sector = 0; sector < 8; ++sector) {
      if ((transaction.sectors >> sector & 1U) != 0) {
        const std::uint64_t start =
            transaction.line * coalescing_.line_bytes + std::uint64_t{sector} * coalescing_.sector_bytes;
        for (std::uint32_t byte = 0; byte < coalescing_.sector_bytes; byte += 4) {
          result_words.insert(start + byte);
        }
      }
    }
    return result_words;
  }

  /// When it completes; nothing if it has to wait.
  std::optional<std::uint64_t> access(Sm& sm, memory::Transaction& transaction, std::uint64_t cycle) {
    const std::set<std::uint64_t> touched = words(transaction);
    if ((transaction.flags & memory::kStore) != 0) {
      if (sm.l1.exists()) {
        sm.l1.touch(transaction.line, false);
      }
      for (const auto& [number, sectors] : l2_.exists() ? l2_.cut(touched) : decltype(l2_.cut(touched)){}) {
        SlowCache::Line* line = l2_.touch(number, true);
        for (const std::uint64_t sector : sectors) {
          line->returns[sector] = 0;
        }
      }
      return cycle + 1;
    }
    std::set<std::uint64_t> asked = touched;  // words
    if (sm.l1.exists()) {
      const std::set<std::uint64_t> wanted = sm.l1.cut(touched).begin()->second;
      const SlowCache::Line* line = sm.l1.look(transaction.line);
      std::uint64_t returns = 0;
      std::set<std::uint64_t> missing;
      for (const std::uint64_t sector : wanted) {
        if (line != nullptr && line->returns.count(sector) != 0) {
          returns = std::max(returns, line->returns.at(sector));
        } else {
          missing.insert(sector);
        }
      }
      if (missing.empty()) {
        sm.l1.touch(transaction.line, false);
        const bool hit = returns <= cycle;
        ++(hit ? result.l1_hits : result.merged);
        transaction.flags =
            static_cast<std::uint8_t>(transaction.flags | (hit ? memory::kTimedHit : memory::kTimedMerged));
        return std::max(cycle + machine_.l1_latency_cycles, returns);
      }
      asked.clear();
      for (const std::uint64_t sector : missing) {
        for (std::uint32_t byte = 0; byte < sm.l1.sector(); byte += 4) {
          asked.insert(sector + byte);
        }
      }
    }
    std::erase_if(sm.misses, [&](std::uint64_t returns) { return returns <= cycle; });
    if (sm.misses.size() == machine_.outstanding_misses) {
      return {};
    }
    std::uint64_t returns = ask_l2(asked, transaction, cycle);
    if (sm.l1.exists()) {
      SlowCache::Line* line = sm.l1.touch(transaction.line, true);
      std::set<std::uint64_t> missing;
      for (const std::uint64_t word : asked) {
        missing.insert(word / sm.l1.sector() * sm.l1.sector());
      }
      returns = SlowCache::ask(*line, missing, returns, cycle);
    }
    sm.misses.push_back(returns);
    return returns;
  }

  std::uint64_t ask_l2(const std::set<std::uint64_t>& asked, memory::Transaction& transaction, std::uint64_t cycle) {
    bool hit = l2_.exists();
    std::uint64_t later = 0;
    if (!hit) {
      ++result.dram;
      return cycle + machine_.dram_latency_cycles;
    }
    for (const auto& [number, sectors] : l2_.cut(asked)) {
      SlowCache::Line* line = l2_.touch(number, true);
      std::set<std::uint64_t> missing;
      for (const std::uint64_t sector : sectors) {
        if (line->returns.count(sector) == 0) {
          missing.insert(sector);
        } else {
          later = std::max(later, line->returns[sector]);
        }
      }
      if (!missing.empty()) {
        hit = false;
        SlowCache::ask(*line, missing, cycle + machine_.dram_latency_cycles, cycle);
      }
    }
    ++(hit ? result.l2_hits : result.dram);
    if (hit) {
      transaction.flags = static_cast<std::uint8_t>(transaction.flags | memory::kTimedL2Hit);
    }
    return std::max(later, cycle + (hit ? machine_.l2_latency_cycles : machine_.dram_latency_cycles));
  }

  const std::vector<memory::WarpStream>& streams_;
  memory::CoalesceOptions coalescing_;
  SlowDispatch& dispatch_;
  machine::Machine machine_;
  machine::InterleaveOptions options_;
  SlowCache l2_;
  std::vector<Sm> sms_;
};

}  // namespace rayreplay::test
