// Light straight from a source: which shadow ray a diffuse hit asks for, and what it is to bring.
struct Light {
  vec3 corner;
  float cumulative;  // power of this triangle and those before it
  vec3 edge1;
  float inverse_density;
  vec3 edge2;
  uint unused;
  vec3 radiance;
  uint unused2;
};

layout(set = 0, binding = 6, scalar) readonly buffer Lights {
  Light lights[];
};

void ask(vec3 direction, float distance, vec3 radiance) {
  path.flags |= kPathTestsShadow;
  path.shadow_direction = direction;
  path.shadow_distance = distance;
  path.shadow_radiance = radiance;
}

/// A light in proportion to its power.
uint pick_light(float place) {
  uint low = 0;
  uint high = params.lights - 1;
  while (low < high) {
    const uint middle = (low + high) / 2;
    if (place < lights[middle].cumulative) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Shirley, Wang and Zimmerman, Monte Carlo Techniques for Direct Lighting Calculations (1996), §3.
void ask_for_triangle(Surface surface, vec3 throughput) {
  const Light light = lights[pick_light(random_uniform(path.random) * params.light_power)];
  float u = random_uniform(path.random);
  float v = random_uniform(path.random);
  if (u + v > 1) {
    u = 1 - u;
    v = 1 - v;
  }
  const vec3 way = light.corner + light.edge1 * u + light.edge2 * v - surface.point;
  const float distance = length(way);
  const vec3 direction = normalize(way);
  const float cosine_surface = dot(surface.normal, direction);
  const float cosine_light = abs(dot(normalize(cross(light.edge1, light.edge2)), direction));
  // The light itself must not stand in the way of its own sample.
  const float t_max = distance * (1 - 1e-4);
  if (cosine_surface > 0 && cosine_light > 0 && dot(surface.geometric_normal, direction) > 0 && t_max > params.t_min) {
    const float geometry = cosine_surface * cosine_light / (distance * distance);
    ask(direction, t_max,
        throughput * surface.color * light.radiance * (geometry * light.inverse_density * 0.31830989));
  }
}

void ask_for_sun(Surface surface, vec3 throughput) {
  const float cosine = dot(surface.normal, params.sun);
  if (cosine > 0 && dot(surface.geometric_normal, params.sun) > 0) {
    ask(params.sun, params.t_max, throughput * surface.color * params.sun_radiance * cosine);
  }
}

void ask_for_light(Surface surface, vec3 throughput) {
  if (params.lights > 0) {
    path.flags |= kPathCountedLight;
    ask_for_triangle(surface, throughput);
  } else if (params.sun_radiance != vec3(0)) {
    ask_for_sun(surface, throughput);
  }
}
