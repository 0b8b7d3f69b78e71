// The beginning of every kernel: extensions, references to arrays in memory, and its number in the launch.
//
// Contract: push constants begin with `uint first_group` (kernels/device/device.hpp). Arrays are given by address;
// Words(a).at[i] is element i of the array of 32-bit words at address a.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require

layout(buffer_reference, scalar, buffer_reference_align = 1) buffer Bytes {
  uint8_t at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer Halves {
  uint16_t at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words {
  uint at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Longs {
  uint64_t at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Quads {
  uvec4 at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Floats {
  float at[];
};
