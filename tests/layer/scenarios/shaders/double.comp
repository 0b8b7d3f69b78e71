#version 460
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;
layout(buffer_reference, std430) buffer Values { uint value[]; };
layout(push_constant) uniform Push { Values values; uint factor; };

void main() {
  values.value[gl_GlobalInvocationID.x] = values.value[gl_GlobalInvocationID.x] * factor + 1u;
}
