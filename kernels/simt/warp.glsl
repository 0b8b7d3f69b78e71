// Mapping of the model's warps to subgroups, and sets of lanes.
//
// A subgroup with at least as many invocations as the warp has lanes runs as many whole warps as fit: its *seats*, in
// lockstep until the last has ended. A smaller one runs one warp, several lanes an invocation: lane + kSubgroup · k for
// k below kLanesEach. A set of lanes (bit l is lane l) is one word (Lanes), or two where the file is compiled for warps
// of more than 32 (RR_SIMT_LARGE_WARPS); all invocations of a seat hold the same. All invocations of the subgroup reach
// the subgroup operations below together.

#ifdef RR_SIMT_LARGE_WARPS
#define Lanes uint64_t
#else
#define Lanes uint
#endif

const uint kLanesEach = (kWarpSize + kSubgroup - 1) / kSubgroup;
#define kSeats max(kSubgroup / kWarpSize, 1u)

uint seat;        ///< the warp's place in the subgroup; kSeats of invocations that are left over
uint lane;        ///< of the warp, the first that this invocation plays
uint seat_begin;  ///< the seat's first invocation

void take_seat() {
  seat = kLanesEach > 1 ? 0 : gl_SubgroupInvocationID / kWarpSize;
  seat_begin = seat * kWarpSize;
  lane = gl_SubgroupInvocationID - seat_begin;
}

uint lowest(Lanes set) {
#ifdef RR_SIMT_LARGE_WARPS
  const u32vec2 word = unpack32(set);
  return word.x != 0 ? findLSB(word.x) : word.y != 0 ? 32 + findLSB(word.y) : 0;
#else
  return set != 0 ? findLSB(set) : 0;
#endif
}
uint size(Lanes set) {
#ifdef RR_SIMT_LARGE_WARPS
  const u32vec2 word = unpack32(set);
  return bitCount(word.x) + bitCount(word.y);
#else
  return bitCount(set);
#endif
}
bool holds(Lanes set, uint k) {
  return (set >> (lane + k * kSubgroup) & 1) != 0;
}

/// The lanes whose invocations voted yes, among the k-th lanes of all.
Lanes lanes_of(uvec4 votes, uint k) {
  if (kLanesEach > 1) {
    return Lanes(votes.x) << k * kSubgroup;
  }
  if (kSubgroup <= 32) {
    const uint all = kWarpSize >= 32 ? ~0u : (1u << kWarpSize % 32) - 1;
    return Lanes(votes.x >> seat_begin % 32 & all);
  }
  const uint64_t all = kWarpSize == 64 ? ~uint64_t(0) : (uint64_t(1) << kWarpSize % 64) - 1;
  const uint64_t low = pack64(u32vec2(votes.x, votes.y));
  if (kSubgroup == 64 || seat_begin == 0) {
    return Lanes(low >> seat_begin % 64 & all);
  }
  const uint64_t high = pack64(u32vec2(votes.z, votes.w));
  return Lanes((seat_begin < 64 ? low >> seat_begin | high << 64 - seat_begin : high >> seat_begin - 64) & all);
}
