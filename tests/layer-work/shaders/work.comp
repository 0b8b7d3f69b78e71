// 80 invocations with known counts: values[i] is i % 10.
#version 450
layout(local_size_x = 16) in;
layout(set = 0, binding = 0, std430) buffer Data {
  uint values[80];
  uint results[80];
} data;

uint steps(const uint n) {
  uint sum = 0u;
  for (uint k = 0u; k < n; ++k) {
    sum += data.values[k + 1u];
  }
  return sum;
}

void main() {
  uint i = gl_GlobalInvocationID.x;
  uint value = data.values[i];
  if (value % 3u == 0u) {
    data.results[i] = 2u * value;
  } else {
    data.results[i] = steps(value % 3u);
  }
}
