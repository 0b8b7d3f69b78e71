// Comparison of the interleaving's result with its slow twin's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/machine/interleave.hpp"
#include "sim/machine/time_shares.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::test {

/// All but the time.
inline void expect_same(const machine::InterleaveResult& fast, const machine::InterleaveResult& slow) {
  EXPECT_EQ(fast.cycles, slow.cycles);
  EXPECT_EQ(fast.instructions, slow.instructions);
  EXPECT_EQ(fast.transactions, slow.transactions);
  EXPECT_EQ(fast.items, slow.items);
  EXPECT_EQ(fast.l1_hits, slow.l1_hits);
  EXPECT_EQ(fast.merged, slow.merged);
  EXPECT_EQ(fast.l2_hits, slow.l2_hits);
  EXPECT_EQ(fast.dram, slow.dram);
  EXPECT_EQ(fast.sm_instructions, slow.sm_instructions);
  EXPECT_EQ(fast.sm_last_cycle, slow.sm_last_cycle);
  EXPECT_EQ(fast.mshr_stall_cycles, slow.mshr_stall_cycles);
}

inline constexpr std::array<const char*, machine::kWarpWaits> kStates = {"reorder", "issue",  "traversal", "load unit",
                                                                         "l1",      "merged", "l2",        "dram"};

inline void expect_near(double fast, double slow, const char* what) {
  EXPECT_NEAR(fast, slow, 1e-9 * slow) << what;
}

inline void expect_same_time(const machine::MemoryTime& fast, const machine::MemoryTime& slow) {
  ASSERT_EQ(fast.sms.size(), slow.sms.size());
  for (std::size_t sm = 0; sm < fast.sms.size(); ++sm) {
    SCOPED_TRACE(testing::Message() << "SM " << sm);
    for (std::size_t state = 0; state < machine::kWarpWaits; ++state) {
      EXPECT_EQ(fast.sms[sm].waits[state], slow.sms[sm].waits[state]) << kStates[state];
    }
    EXPECT_EQ(fast.sms[sm].busy, slow.sms[sm].busy);
    EXPECT_EQ(fast.sms[sm].barrier, slow.sms[sm].barrier);
    EXPECT_EQ(fast.sms[sm].idle, slow.sms[sm].idle);
  }
  for (std::size_t stage = 0; stage < memory::kWorkStages; ++stage) {
    EXPECT_EQ(fast.stages[stage], slow.stages[stage]) << memory::kWorkStageNames[stage];
  }
  EXPECT_EQ(fast.l2_bytes, slow.l2_bytes);
  EXPECT_EQ(fast.dram_bytes, slow.dram_bytes);
  EXPECT_EQ(fast.dram_written_bytes, slow.dram_written_bytes);
  EXPECT_EQ(fast.calls, slow.calls);
  expect_near(fast.issue_cycles, slow.issue_cycles, "issue slots");
  expect_near(fast.ray_unit_cycles, slow.ray_unit_cycles, "ray-tracing units");
  expect_near(fast.l2_cycles, slow.l2_cycles, "L2");
  expect_near(fast.dram_cycles, slow.dram_cycles, "DRAM");
}

inline void expect_equal(const machine::InterleaveResult& fast, const machine::InterleaveResult& slow) {
  expect_same(fast, slow);
  expect_same_time(fast.time, slow.time);
}

/// The first transaction that differs, for the message.
inline std::string first_difference(const memory::TransactionBlock& fast, const memory::TransactionBlock& slow) {
  for (std::size_t i = 0; i < std::min(fast.transactions.size(), slow.transactions.size()); ++i) {
    if (fast.transactions[i] != slow.transactions[i] || fast.cycles[i] != slow.cycles[i]) {
      const auto told = [i](const memory::TransactionBlock& of) {
        return "cycle " + std::to_string(of.cycles[i]) + ", SM " + std::to_string(of.transactions[i].sm) + ", line " +
               std::to_string(of.transactions[i].line) + ", flags " + std::to_string(of.transactions[i].flags);
      };
      return "transaction " + std::to_string(i) + ": " + told(fast) + "; slow: " + told(slow);
    }
  }
  return fast.transactions.size() == slow.transactions.size() ? "" : "another number of transactions";
}

/// The parts of each SM, and of its warps, are the whole; no resource is busy for longer than the launch takes.
inline void expect_whole(const machine::InterleaveResult& result, const std::vector<std::uint64_t>& lives,
                         const machine::Machine& of) {
  const machine::TimeShares shares = machine::time_shares(result.time, result.cycles, result.mshr_stall_cycles, of);
  for (std::size_t resource = 0; resource < machine::kResourcesOfTime; ++resource) {
    EXPECT_LE(shares.busy[resource], 1) << machine::kResourceNames[resource];
  }
  ASSERT_EQ(result.time.sms.size(), lives.size());
  for (std::size_t state = 0; state < machine::kWarpWaits; ++state) {
    std::uint64_t of_stages = 0, of_sms = 0;
    for (const auto& stage : result.time.stages) {
      of_stages += stage[state];
    }
    for (const machine::SmTime& sm : result.time.sms) {
      of_sms += sm.waits[state];
    }
    EXPECT_EQ(of_stages, of_sms) << kStates[state];
  }
  for (std::size_t sm = 0; sm < lives.size(); ++sm) {
    const machine::SmTime& time = result.time.sms[sm];
    EXPECT_EQ(std::accumulate(time.waits.begin(), time.waits.end(), std::uint64_t{0}), lives[sm]) << "SM " << sm;
    EXPECT_EQ(time.busy + time.barrier + time.idle, result.cycles) << "SM " << sm;
    EXPECT_EQ(time.busy + time.barrier, result.sm_last_cycle[sm]) << "SM " << sm;
  }
}

}  // namespace rayreplay::test
