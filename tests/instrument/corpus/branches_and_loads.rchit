// Branches and loads of every kind that is counted: buffers, push constants, shader records, physical addresses, images
// and arrays of them; values of all widths, vectors, matrices and structures.
#version 460
#extension GL_EXT_ray_tracing : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

struct Light {
  mat3x4 place;
  vec3 colour;
  int kind;
  uint bits[3];
};
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Node {
  Node next;
  vec2 value;
  double weights[2];
};
layout(set = 0, binding = 0) uniform sampler2D textures[4];
layout(set = 0, binding = 1, rgba32f) uniform image2D image;
layout(set = 0, binding = 2) uniform texture2D plain;
layout(set = 0, binding = 3) uniform sampler plain_sampler;
layout(set = 0, binding = 4) uniform sampler2DShadow shadow;
layout(set = 0, binding = 5, std430) buffer Lights {
  uint count;
  Light all[];
} lights[2];
layout(set = 0, binding = 6, std430) readonly buffer Small {
  float16_t half_number;
  uint8_t byte_number;
  int16_t short_number;
  u16vec2 shorts;
  float16_t halves[8];
} small;
layout(set = 0, binding = 7) uniform Frame {
  mat4 view;
  bvec4 switches;
  ivec3 counts;
} frame;
layout(push_constant) uniform Push {
  Node first;
  uint64_t seed;
} push;
layout(shaderRecordEXT, std430) buffer Record {
  vec4 colour;
  uint material;
} record;
layout(location = 0) rayPayloadInEXT vec4 payload;
hitAttributeEXT vec2 attributes;

vec4 shade(uint which) {
  Light light = lights[which & 1u].all[which];
  vec4 sum = vec4(light.colour, 1) * light.place[1];
  switch (light.kind) {
    case 0:
      return sum;
    case -3:
      sum *= 2;
    default:
      sum += float(light.bits[which % 3u]);
  }
  return sum;
}

void main() {
  vec4 sum = record.colour;
  Node node = push.first;
  while (uint64_t(node) != 0ul) {
    sum.xy += node.value + float(node.weights[gl_PrimitiveID & 1]);
    node = node.next;
  }
  sum += texture(textures[nonuniformEXT(record.material)], attributes);
  sum += textureLod(sampler2D(plain, plain_sampler), attributes, sum.x);
  sum += textureLod(shadow, vec3(attributes, 0.5), 0.0);
  sum += texelFetch(textures[1], ivec2(gl_LaunchIDEXT.xy), 2);
  sum += textureGather(textures[0], attributes, 1);
  sum += textureGrad(textures[2], attributes, sum.xy, sum.zw);
  sum += imageLoad(image, ivec2(gl_LaunchIDEXT.xy));
  sum += float(small.half_number) + float(uint(small.byte_number)) + float(int(small.short_number));
  sum += vec4(uvec2(small.shorts), float(small.halves[gl_PrimitiveID & 7]), 0);
  sum *= frame.view;
  if (frame.switches[gl_PrimitiveID & 3]) {
    sum *= float(frame.counts.y);
  }
  for (uint i = 0u; i < lights[0].count; ++i) {
    sum += shade(i);
    if ((i & 7u) == uint(push.seed)) {
      break;
    }
  }
  payload = sum;
}
