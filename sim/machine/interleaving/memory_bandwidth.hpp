// Return times of misses: latencies, and the queues for the bandwidth of L2 and DRAM.
//
// Contract: requests come in the order in which the L2 is asked (cycle, then SM). The L2's server serves each for its
// bytes / bandwidth; DRAM's server serves what the L2 lacks in the same way, then the writebacks of lines that the
// request evicts. Only the wait for a server delays a return: the service of the request itself is part of the latency.
// Stores and writebacks take bandwidth, and no warp waits for them. Without an L2 DRAM serves all. Without `limited` no
// request waits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/machine/interleave.hpp"
#include "sim/machine/interleaving/server.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::machine {

class MemoryBandwidth {
 public:
  /// `sector_bytes`: of the stream. `history`: null, or told of all services.
  MemoryBandwidth(const Machine& machine, std::uint32_t sector_bytes, bool has_l2, bool limited, TimeHistory* history)
      : limited_(limited),
        history_(history),
        has_l2_(has_l2),
        sector_bytes_(sector_bytes),
        l2_latency_(machine.l2_latency_cycles),
        dram_latency_(machine.dram_latency_cycles),
        l2_per_cycle_(machine.l2_bytes_per_second / (machine.clock_mhz * 1e6)),
        dram_per_cycle_(machine.dram_bytes_per_second / (machine.clock_mhz * 1e6)) {}

  struct Returns {
    std::uint64_t from_l2, from_dram;
  };
  /// A miss that asks for these sectors of the stream in this cycle. One request comes at a time: `fetch` and
  /// `write_back` are about the last one, in this order.
  [[nodiscard]] Returns ask(std::uint64_t cycle, std::uint8_t sectors) {
    if (!limited_) {
      return {cycle + l2_latency_, cycle + dram_latency_};
    }
    arrives_ = has_l2_ ? take_l2(cycle, bytes_of(sectors)) : ticks_of(cycle);
    return {floor_cycle(arrives_) + l2_latency_, floor_cycle(dram_.first(arrives_)) + dram_latency_};
  }
  /// DRAM serves so many bytes of the last miss.
  void fetch(std::uint32_t bytes) {
    if (limited_) {
      take_dram(arrives_, bytes);
    }
  }
  void store(std::uint64_t cycle, std::uint8_t sectors) {
    if (!limited_) {
      return;
    }
    if (has_l2_) {
      arrives_ = take_l2(cycle, bytes_of(sectors));
    } else {
      write(ticks_of(cycle), bytes_of(sectors));
    }
  }
  /// DRAM takes so many bytes of lines that the last miss or store evicted.
  void write_back(std::uint32_t bytes) {
    if (limited_ && bytes != 0) {
      write(arrives_, bytes);
    }
  }
  [[nodiscard]] std::uint32_t bytes_of(std::uint8_t sectors) const {
    return static_cast<std::uint32_t>(std::popcount(sectors)) * sector_bytes_;
  }
  /// The first cycle in which L2 and DRAM have served everything; 0 if they served nothing.
  [[nodiscard]] std::uint64_t last_cycle() const {
    return ceil_cycle(std::max(l2_.ends(), dram_.ends()));
  }
  /// Adds bytes and services.
  void add_to(MemoryTime& time) const {
    time.l2_bytes += l2_bytes_;
    time.dram_bytes += dram_bytes_;
    time.dram_written_bytes += dram_written_bytes_;
    time.l2_cycles += static_cast<double>(l2_.served()) / static_cast<double>(kTicks);
    time.dram_cycles += static_cast<double>(dram_.served()) / static_cast<double>(kTicks);
  }

 private:
  [[nodiscard]] std::uint64_t take_l2(std::uint64_t cycle, std::uint32_t bytes) {
    l2_bytes_ += bytes;
    const std::uint64_t begins = l2_.take(ticks_of(cycle), service_of(bytes / l2_per_cycle_)).begins;
    if (history_ != nullptr) {
      history_->l2_serves(floor_cycle(begins), bytes);
    }
    return begins;
  }
  void write(std::uint64_t arrives, std::uint32_t bytes) {
    dram_written_bytes_ += bytes;
    take_dram(arrives, bytes);
  }
  void take_dram(std::uint64_t arrives, std::uint32_t bytes) {
    dram_bytes_ += bytes;
    const std::uint64_t begins = dram_.take(arrives, service_of(bytes / dram_per_cycle_)).begins;
    if (history_ != nullptr) {
      history_->dram_serves(floor_cycle(begins), bytes);
    }
  }

  bool limited_;
  TimeHistory* history_;
  bool has_l2_;
  std::uint32_t sector_bytes_;
  std::uint64_t l2_latency_, dram_latency_;
  double l2_per_cycle_, dram_per_cycle_;  ///< bytes
  Server l2_, dram_;
  std::uint64_t arrives_ = 0;  ///< at DRAM, of the last request
  std::uint64_t l2_bytes_ = 0, dram_bytes_ = 0, dram_written_bytes_ = 0;
};

}  // namespace rayreplay::machine
