// Not ray tracing: left alone.
#version 460
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Data { uint x[]; } data;

void main() {
  data.x[gl_GlobalInvocationID.x] += 1u;
}
