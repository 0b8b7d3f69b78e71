// Random numbers of one thread: PCG (Jarzynski and Olano, Hash Functions for GPU Rendering, 2020), seeded by pixel,
// launch and seed, so that a picture does not depend on the order of threads. Disk and sphere by rejection, as in the
// book.
uint pcg_hash(uint value) {
  const uint state = value * 747796405u + 2891336453u;
  const uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

uint random_start(uint pixel, uint launch, uint seed) {
  return pcg_hash(pixel + pcg_hash(launch + pcg_hash(seed)));
}

/// Uniform in [0, 1), a multiple of 2^-24.
float random_uniform(inout uint state) {
  state = state * 747796405u + 2891336453u;
  const uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return float(((word >> 22u) ^ word) >> 8u) * (1.0 / 16777216.0);
}

float random_symmetric(inout uint state) {
  return 2 * random_uniform(state) - 1;
}

vec2 random_in_unit_disk(inout uint state) {
  while (true) {
    const float x = random_symmetric(state);
    const float y = random_symmetric(state);
    if (x * x + y * y < 1) {
      return vec2(x, y);
    }
  }
}

vec3 random_in_unit_sphere(inout uint state) {
  while (true) {
    const float x = random_symmetric(state);
    const float y = random_symmetric(state);
    const float z = random_symmetric(state);
    if (x * x + y * y + z * z < 1) {
      return vec3(x, y, z);
    }
  }
}

vec3 random_unit_vector(inout uint state) {
  while (true) {
    const vec3 p = random_in_unit_sphere(state);
    if (dot(p, p) > 1e-12) {
      return normalize(p);
    }
  }
}
