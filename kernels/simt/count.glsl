// Results of a replay: sums by call, and those that kOutputs adds.
//
// Sums of all warps are 32-bit counters in the workgroup's shared memory, one atomic add per warp event and sum by one
// invocation; they are added to the 64-bit sums in memory at the end of the workgroup and before they could overflow.
// If the calls do not fit into shared memory (kCounters = 0), each event goes to memory directly. A 64-bit sum is two
// words and a carry, so 64-bit atomics are not needed.

shared uint counters[kCounters + 1];

/// Adds to the 64-bit sum number `index` at `sums`.
void add_to_memory(uint64_t sums, uint64_t index, uint value) {
  Words sum = Words(sums + 8 * index);
  const uint before = atomicAdd(sum.at[0], value);
  if (before > ~0u - value) {
    atomicAdd(sum.at[1], 1u);
  }
}

void count(uint index, uint value) {
  if (kCounters != 0) {
    atomicAdd(counters[index], value);
  } else {
    add_to_memory(push.sums, index, value);
  }
}

/// Empties the counters of the `player`-th of `players`.
void flush(uint player, uint players) {
  for (uint i = player; i < kCounters; i += players) {
    const uint value = atomicExchange(counters[i], 0u);
    if (value != 0) {
      add_to_memory(push.sums, i, value);
    }
  }
}

/// Sums over warp events of a warp, or of a lane.
struct Tally {
  uint events;
  uint lanes;
  uint64_t cost;
  uint64_t cost_of_lanes;
};

Tally of_warp;
Tally of_lane_played[kLanesEach];
uint64_t weights[RR_SIMT_MOST_WEIGHTS];
uint rays[kLanesEach];  ///< begun by the lane's thread

void add(inout Tally tally, uint count, uint cost) {
  ++tally.events;
  tally.lanes += count;
  tally.cost += cost;
  tally.cost_of_lanes += uint64_t(cost) * count;
}
void store(uint64_t tallies, uint64_t index, Tally tally) {
  Longs to = Longs(tallies + 32 * index);
  to.at[0] = tally.events;
  to.at[1] = tally.lanes;
  to.at[2] = tally.cost;
  to.at[3] = tally.cost_of_lanes;
}

void start_counts() {
  const Tally nothing = Tally(0, 0, 0, 0);
  of_warp = nothing;
  for (uint k = 0; k < kLanesEach; ++k) {
    of_lane_played[k] = nothing;
  }
  for (uint table = 0; table < RR_SIMT_MOST_WEIGHTS; ++table) {
    weights[table] = 0;
  }
}

/// A warp event counts once for every bounce in it: its lanes are counted bounce by bounce.
void count_bounces(uint code, Lanes lanes, uint lane_count, uint begins) {
  uint bounce[kLanesEach];
  for (uint k = 0; k < kLanesEach; ++k) {
    rays[k] += holds(lanes, k) ? begins : 0;
    bounce[k] = min(max(rays[k], 1u), RR_SIMT_BOUNCES) - 1;
  }
  Lanes open = lanes;
  while (subgroupAny(open != 0)) {
    const uint first = lowest(open);
    const uint this_bounce = of_lane(bounce, first);
    Lanes alike = 0;
    for (uint k = 0; k < kLanesEach; ++k) {
      alike |= lanes_of(subgroupBallot(bounce[k] == this_bounce), k);
    }
    if (open != 0 && lane == 0) {
      const uint64_t pair = 2 * (uint64_t(this_bounce) * push.calls + code);
      add_to_memory(push.bounces, pair, 1);
      add_to_memory(push.bounces, pair + 1, lane_count);
    }
    open &= ~alike;
  }
}

/// One warp event of each seat; none for empty sets of lanes.
void count_event(uint code, Lanes lanes) {
  const uint lane_count = size(lanes);
  const bool happens = lane_count != 0;
  if (happens && lane == 0) {
    count(2 * code, 1);
    count(2 * code + 1, lane_count);
    if ((kOutputs & RR_SIMT_DETAIL) != 0) {
      count(2 * push.calls + lane_count, 1);
    }
  }
  if (kOutputs == 0) {
    return;
  }
  const uint64_t call_row = push.call_rows + 24 * uint64_t(happens ? code : 0);
  const uint cost = Words(call_row).at[0];
  if ((kOutputs & RR_SIMT_BY_WARP) != 0 && happens) {
    add(of_warp, lane_count, cost);
  }
  if ((kOutputs & RR_SIMT_BY_PLACE) != 0) {
    for (uint k = 0; k < kLanesEach; ++k) {
      if (holds(lanes, k)) {
        add(of_lane_played[k], lane_count, cost);
      }
    }
  }
  if ((kOutputs & RR_SIMT_WEIGHTS) != 0 && happens) {
    for (uint table = 0; table < RR_SIMT_MOST_WEIGHTS; ++table) {
      weights[table] += Words(call_row).at[2 + table];
    }
  }
  if ((kOutputs & RR_SIMT_DETAIL) != 0) {
    count_bounces(code, lanes, lane_count, Words(call_row).at[1]);
  }
}

/// Stores the wanted results by warp and by place.
void store_counts(uint64_t warp) {
  if ((kOutputs & RR_SIMT_BY_WARP) != 0 && lane == 0) {
    store(push.by_warp, warp, of_warp);
  }
  if ((kOutputs & RR_SIMT_WEIGHTS) != 0 && lane == 0) {
    for (uint table = 0; table < RR_SIMT_MOST_WEIGHTS; ++table) {
      if (table < push.tables) {
        Longs(push.weights_of_warp + 8 * (warp * push.tables + table)).at[0] = weights[table];
      }
    }
  }
  if ((kOutputs & RR_SIMT_BY_PLACE) != 0) {
    for (uint k = 0; k < kLanesEach; ++k) {
      if (lane + k * kSubgroup < kWarpSize) {
        store(push.by_place, warp * kWarpSize + lane + k * kSubgroup, of_lane_played[k]);
      }
    }
  }
}
