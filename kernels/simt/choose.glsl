// The policies' choice of a call among the heads of a warp (defined in sim/simt/replayer.hpp).
//
//   majority  favoured calls first, then the one of most lanes, then the lowest code
//   lowest    the lowest code: min-shader and trace-barrier, each with its own order of codes
//   oldest    the call of the lane that popped least recently; ties to the lowest lane
//   apart     groups that diverge stay apart until all wait at favoured calls: independent
//
// Each seat in a subgroup chooses for itself, in loops that all of them execute together.

/// Lanes whose head's code is below `limit`.
Lanes waiting_below(uint limit) {
  Lanes lanes = 0;
  for (uint k = 0; k < kLanesEach; ++k) {
    lanes |= lanes_of(subgroupBallot(head[k] < limit), k);
  }
  return lanes;
}
Lanes waiting_for(uint code) {
  Lanes lanes = 0;
  for (uint k = 0; k < kLanesEach; ++k) {
    lanes |= lanes_of(subgroupBallot(head[k] == code), k);
  }
  return code == RR_SIMT_NO_CALL ? 0 : lanes;
}

/// values[…] of one lane of the seat.
uint of_lane(uint values[kLanesEach], uint wanted) {
  if (kLanesEach == 1) {
    return subgroupShuffle(values[0], seat_begin + wanted);
  }
  uint value = 0;
  for (uint k = 0; k < kLanesEach; ++k) {
    const uint here = subgroupShuffle(values[k], wanted % kSubgroup);
    value = wanted / kSubgroup == k ? here : value;
  }
  return value;
}

/// The least of the values of all lanes of the seat.
uint least(uint values[kLanesEach]) {
  uint found = values[0];
  for (uint k = 1; k < kLanesEach; ++k) {
    found = min(found, values[k]);
  }
  if (kSeats == 1) {
    return subgroupMin(found);
  }
  Lanes lower = lanes_of(subgroupBallot(found != ~0u), 0);
  uint best = ~0u;
  while (subgroupAny(lower != 0)) {
    const uint candidate = of_lane(values, lowest(lower));
    best = lower != 0 ? candidate : best;
    lower &= lanes_of(subgroupBallot(found < best), 0);
  }
  return best;
}

uint clock;                 ///< oldest: steps made
uint last_pop[kLanesEach];  ///< oldest: the step in which the lane popped last; 0 before its first
uint group[kLanesEach];     ///< apart: the same number in all lanes of a group
Lanes stopped;           ///< apart: lanes that wait for all others
Lanes parted;            ///< apart: lanes of the group at hand that wait for another call

void start_choices() {
  clock = 0;
  for (uint k = 0; k < kLanesEach; ++k) {
    last_pop[k] = 0;
    group[k] = 0;
  }
  parted = 0;
  stopped = kChoice == RR_SIMT_APART ? waiting_below(push.favoured) : 0;
}

void choose_majority(out uint code, out Lanes lanes) {
  const Lanes favoured = waiting_below(push.favoured);
  const Lanes all = waiting_below(RR_SIMT_NO_CALL);
  Lanes open = favoured != 0 ? favoured : all;
  uint most = 0;
  code = RR_SIMT_NO_CALL;
  lanes = 0;
  while (subgroupAny(open != 0)) {
    const uint other = of_lane(head, lowest(open));
    const Lanes others = waiting_for(other);
    const uint count = size(others);
    if (open != 0 && (count > most || count == most && other < code)) {
      most = count;
      code = other;
      lanes = others;
    }
    open &= ~others;
    // No remaining call can have as many lanes.
    open = size(open) < most ? 0 : open;
  }
}

void choose_lowest(out uint code, out Lanes lanes) {
  code = min(least(head), RR_SIMT_NO_CALL);
  lanes = waiting_for(code);
}

void choose_oldest(out uint code, out Lanes lanes) {
  uint age[kLanesEach];
  for (uint k = 0; k < kLanesEach; ++k) {
    age[k] = head[k] != RR_SIMT_NO_CALL ? last_pop[k] : ~0u;
  }
  const uint oldest = least(age);
  Lanes leaders = 0;
  for (uint k = 0; k < kLanesEach; ++k) {
    leaders |= lanes_of(subgroupBallot(age[k] == oldest && head[k] != RR_SIMT_NO_CALL), k);
  }
  code = of_lane(head, lowest(leaders));
  code = leaders != 0 ? code : RR_SIMT_NO_CALL;
  lanes = waiting_for(code);
}

// The order of groups changes no sum; the group of the lowest lane goes first, and that lane leads it.
void choose_apart(out uint code, out Lanes lanes) {
  const Lanes alive = waiting_below(RR_SIMT_NO_CALL);
  Lanes running = alive & ~stopped;
  if (running == 0) {
    running = alive;
    stopped = 0;
    for (uint k = 0; k < kLanesEach; ++k) {
      group[k] = 0;
    }
  }
  const uint leader = lowest(running);
  const uint number = of_lane(group, leader);
  code = of_lane(head, leader);
  Lanes members = 0;
  for (uint k = 0; k < kLanesEach; ++k) {
    members |= lanes_of(subgroupBallot(group[k] == number), k);
  }
  members &= running;
  lanes = members & waiting_for(code);
  parted = members & ~lanes;
}

/// The next call and its lanes; none where the warp has ended.
void choose(out uint code, out Lanes lanes) {
  if (kChoice == RR_SIMT_MAJORITY) {
    choose_majority(code, lanes);
  } else if (kChoice == RR_SIMT_LOWEST) {
    choose_lowest(code, lanes);
  } else if (kChoice == RR_SIMT_OLDEST) {
    choose_oldest(code, lanes);
  } else {
    choose_apart(code, lanes);
  }
}

/// After `lanes` have popped.
void note_popped(Lanes lanes) {
  if (kChoice == RR_SIMT_OLDEST) {
    ++clock;
    for (uint k = 0; k < kLanesEach; ++k) {
      last_pop[k] = holds(lanes, k) ? clock : last_pop[k];
    }
  } else if (kChoice == RR_SIMT_APART) {
    stopped |= lanes & waiting_below(push.favoured);
    const Lanes going_on = lanes & ~stopped & waiting_below(RR_SIMT_NO_CALL);
    for (uint k = 0; k < kLanesEach; ++k) {
      group[k] = holds(going_on, k) ? lowest(going_on) : holds(parted, k) ? lowest(parted) : group[k];
    }
  }
}
