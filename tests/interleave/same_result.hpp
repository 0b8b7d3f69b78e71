// Comparison of the interleaving's result with its slow twin's.
#pragma once

#include <gtest/gtest.h>

#include "sim/machine/interleave.hpp"

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

}  // namespace rayreplay::test
