// Where the ray of an intersection shader meets a sphere: the nearer point in its interval, else the farther one.
// In double precision, like the built-in tracer: on a ground sphere of radius 1000, single precision would misplace
// hits at grazing angles by more than t_min, and paths would hit where they start.
struct SphereHit {
  bool found;
  float t;
  uint kind;  // 0: the ray enters the sphere, 1: it leaves it
  vec3 outward;
};

bool in_interval(float t) {
  return t >= gl_RayTminEXT && t <= gl_RayTmaxEXT;
}

/// `centre_radius` in object space.
SphereHit intersect_sphere(vec4 centre_radius) {
  SphereHit hit;
  hit.found = false;
  const dvec4 sphere = dvec4(centre_radius);
  const dvec3 origin = dvec3(gl_ObjectRayOriginEXT) - sphere.xyz;
  const dvec3 direction = dvec3(gl_ObjectRayDirectionEXT);
  const double a = dot(direction, direction);
  const double half_b = dot(origin, direction);
  const double c = dot(origin, origin) - sphere.w * sphere.w;
  const double discriminant = half_b * half_b - a * c;
  if (discriminant < 0) {
    return hit;
  }
  const double root = sqrt(discriminant);
  const float enter = float((-half_b - root) / a);
  const float leave = float((-half_b + root) / a);
  const bool enters = in_interval(enter);
  hit.found = enters || in_interval(leave);
  hit.t = enters ? enter : leave;
  hit.kind = enters ? 0u : 1u;
  hit.outward = vec3((origin + double(hit.t) * direction) / sphere.w);
  return hit;
}
