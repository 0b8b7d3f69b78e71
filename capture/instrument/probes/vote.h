// Votes among the lanes that run together.
//
// RR_BALLOT_EXTENSION: by SPV_KHR_shader_ballot. Its votes tell which lanes run at the moment, whereas group operations
// of the core also order the lanes' ways to them: on NVIDIA's driver 580 shaders with many of these never end.
#extension GL_KHR_shader_subgroup_ballot : require
#ifdef RR_BALLOT_EXTENSION
#extension GL_ARB_gpu_shader_int64 : require
#extension GL_ARB_shader_ballot : require
#else
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

#ifdef RR_BALLOT_EXTENSION
uvec4 vote(const bool value) {
  return uvec4(unpackUint2x32(ballotARB(value)), 0u, 0u);
}
bool is_first(const uvec4 together) {
  return subgroupBallotExclusiveBitCount(together) == 0u;
}
#define RR_OF_LANE readInvocationARB
#else
uvec4 vote(const bool value) {
  return subgroupBallot(value);
}
bool is_first(const uvec4 together) {
  return subgroupElect();
}
#define RR_OF_LANE subgroupShuffle
#endif

// A lane's value comes by its number: broadcasts of the first lane are wrong on lavapipe.
uint of_lane(const uint words, const uint lane) {
  return RR_OF_LANE(words, lane);
}
uvec2 of_lane(const uvec2 words, const uint lane) {
  return RR_OF_LANE(words, lane);
}
uvec3 of_lane(const uvec3 words, const uint lane) {
  return RR_OF_LANE(words, lane);
}
uvec4 of_lane(const uvec4 words, const uint lane) {
  return RR_OF_LANE(words, lane);
}
