// L1s, the L2 and DRAM once more, as far as latencies go: words by address, and servers for bandwidths. Slow, and
// easy to believe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/machine/interleave.hpp"
#include "tests/interleave/slow_cache.hpp"
#include "tests/interleave/slow_work.hpp"

namespace rayreplay::test {

struct SlowL1 {
  SlowCache cache;
  std::vector<std::uint64_t> misses{};  ///< when they return
};

/// Counts in `result` what was served where.
class SlowMemory {
 public:
  SlowMemory(const memory::CoalesceOptions& coalescing, const machine::Machine& machine, bool has_bandwidths,
             machine::InterleaveResult& result)
      : coalescing_(coalescing),
        machine_(machine),
        has_bandwidths_(has_bandwidths),
        result_(result),
        l2_(machine.l2_bytes, machine.l2_line_bytes, machine.l2_ways, machine.l2_sector_bytes) {}

  /// Its cycle of completion; nothing if it has to wait.
  std::optional<std::uint64_t> access(SlowL1& l1, memory::Transaction& transaction, std::uint64_t cycle) {
    const std::set<std::uint64_t> touched = words(transaction);
    if ((transaction.flags & memory::kStore) != 0) {
      if (l1.cache.exists()) {
        l1.cache.touch(transaction.line, false);
      }
      const std::uint64_t arrives = cycle * kFractions;
      if (!l2_.exists()) {
        write_to_dram(kWordBytes * touched.size(), arrives);
        return cycle + 1;
      }
      const std::uint64_t begin = ask_l2_server(kWordBytes * touched.size(), arrives);
      for (const auto& [number, sectors] : l2_.cut(touched)) {
        SlowCache::Line* line = l2_.touch(number, true);
        for (const std::uint64_t sector : sectors) {
          line->returns[sector] = 0;
          line->dirty.insert(sector);
        }
      }
      write_to_dram(l2_.take_dropped_dirty(), begin);
      return cycle + 1;
    }
    std::set<std::uint64_t> asked = touched;  // words
    if (l1.cache.exists()) {
      const std::set<std::uint64_t> wanted = l1.cache.cut(touched).begin()->second;
      const SlowCache::Line* line = l1.cache.look(transaction.line);
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
        l1.cache.touch(transaction.line, false);
        const bool hit = returns <= cycle;
        ++(hit ? result_.l1_hits : result_.merged);
        transaction.flags =
            static_cast<std::uint8_t>(transaction.flags | (hit ? memory::kTimedHit : memory::kTimedMerged));
        return std::max(cycle + machine_.l1_latency_cycles, returns);
      }
      asked.clear();
      for (const std::uint64_t sector : missing) {
        for (std::uint32_t byte = 0; byte < l1.cache.sector(); byte += kWordBytes) {
          asked.insert(sector + byte);
        }
      }
    }
    std::erase_if(l1.misses, [&](std::uint64_t returns) { return returns <= cycle; });
    if (l1.misses.size() == machine_.outstanding_misses) {
      return {};
    }
    std::uint64_t returns = ask_l2(asked, transaction, cycle);
    if (l1.cache.exists()) {
      SlowCache::Line* line = l1.cache.touch(transaction.line, true);
      std::set<std::uint64_t> missing;
      for (const std::uint64_t word : asked) {
        missing.insert(word / l1.cache.sector() * l1.cache.sector());
      }
      returns = SlowCache::ask(*line, missing, returns, cycle);
    }
    l1.misses.push_back(returns);
    return returns;
  }

  /// Until everything has been served.
  [[nodiscard]] std::uint64_t last_cycle() const {
    return std::max(l2_server_.last_cycle(), dram_server_.last_cycle());
  }
  [[nodiscard]] double l2_cycles() const {
    return l2_server_.busy_cycles();
  }
  [[nodiscard]] double dram_cycles() const {
    return dram_server_.busy_cycles();
  }

 private:
  static constexpr std::uint64_t kWordBytes = 4;
  /// Of what the transaction touches, every fourth byte's address.
  [[nodiscard]] std::set<std::uint64_t> words(const memory::Transaction& transaction) const {
    std::set<std::uint64_t> all;
    for (std::uint32_t sector = 0; sector < 8; ++sector) {
      if ((transaction.sectors >> sector & 1U) != 0) {
        const std::uint64_t start =
            transaction.line * coalescing_.line_bytes + std::uint64_t{sector} * coalescing_.sector_bytes;
        for (std::uint32_t byte = 0; byte < coalescing_.sector_bytes; byte += kWordBytes) {
          all.insert(start + byte);
        }
      }
    }
    return all;
  }

  /// The return cycle of the requested sectors.
  std::uint64_t ask_l2(const std::set<std::uint64_t>& asked, memory::Transaction& transaction, std::uint64_t cycle) {
    const std::uint64_t bytes = kWordBytes * asked.size();
    if (!l2_.exists()) {
      ++result_.dram;
      return ask_dram(bytes, cycle * kFractions);
    }
    const std::uint64_t begin = ask_l2_server(bytes, cycle * kFractions);
    std::map<std::uint64_t, std::set<std::uint64_t>> missing;  // sectors by line
    std::uint64_t missing_bytes = 0;
    std::uint64_t later = 0;
    for (const auto& [number, sectors] : l2_.cut(asked)) {
      SlowCache::Line* line = l2_.touch(number, true);
      for (const std::uint64_t sector : sectors) {
        if (line->returns.count(sector) == 0) {
          missing[number].insert(sector);
          missing_bytes += l2_.sector();
        } else {
          later = std::max(later, line->returns[sector]);
        }
      }
    }
    if (missing.empty()) {
      ++result_.l2_hits;
      transaction.flags = static_cast<std::uint8_t>(transaction.flags | memory::kTimedL2Hit);
      return std::max(later, rounded_down(begin) + machine_.l2_latency_cycles);
    }
    ++result_.dram;
    const std::uint64_t returns = ask_dram(missing_bytes, begin);
    write_to_dram(l2_.take_dropped_dirty(), begin);
    for (const auto& [number, sectors] : missing) {
      // In a tiny cache a line of this transaction may have replaced another one of it.
      if (SlowCache::Line* line = l2_.find(number); line != nullptr) {
        SlowCache::ask(*line, sectors, returns, cycle);
      }
    }
    return std::max(later, returns);
  }
  /// The begin of service, in fractions of a cycle.
  std::uint64_t ask_l2_server(std::uint64_t bytes, std::uint64_t arrives) {
    if (!has_bandwidths_) {
      return arrives;
    }
    result_.time.l2_bytes += bytes;
    return l2_server_.serve(arrives, cycles_of(bytes, machine_.l2_bytes_per_second)).begin;
  }
  /// The return cycle of the bytes.
  std::uint64_t ask_dram(std::uint64_t bytes, std::uint64_t arrives) {
    if (!has_bandwidths_) {
      return rounded_down(arrives) + machine_.dram_latency_cycles;
    }
    result_.time.dram_bytes += bytes;
    const SlowServer::Turn turn = dram_server_.serve(arrives, cycles_of(bytes, machine_.dram_bytes_per_second));
    return rounded_down(turn.begin) + machine_.dram_latency_cycles;
  }
  void write_to_dram(std::uint64_t bytes, std::uint64_t arrives) {
    if (bytes > 0 && has_bandwidths_) {
      (void)ask_dram(bytes, arrives);
      result_.time.dram_written_bytes += bytes;
    }
  }
  [[nodiscard]] double cycles_of(std::uint64_t bytes, double bytes_per_second) const {
    return static_cast<double>(bytes) / (bytes_per_second / (machine_.clock_mhz * 1e6));
  }

  memory::CoalesceOptions coalescing_;
  machine::Machine machine_;
  bool has_bandwidths_;
  machine::InterleaveResult& result_;
  SlowCache l2_;
  SlowServer l2_server_, dram_server_;
};

}  // namespace rayreplay::test
