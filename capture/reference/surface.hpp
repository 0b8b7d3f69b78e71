// The data of a hit in a closest-hit shader, and the scattering of its material.
//
// Contract: normals are of unit length and face the ray. `scatter` draws the next direction as in "Ray Tracing in One
// Weekend" (§9 to §11: diffuse with a random point on the unit sphere around the normal's tip, fuzzy metal, dielectric
// with Schlick's approximation); it draws the same numbers in the same order for any hit groups.
#pragma once

#include "capture/reference/accelerator.hpp"
#include "capture/reference/random.hpp"
#include "capture/reference/ray.hpp"
#include "capture/reference/scene.hpp"

namespace rayreplay::reference {

struct Surface {
  Vec3 point;
  Vec3 normal;            ///< for shading: interpolated where the mesh has normals
  Vec3 geometric_normal;  ///< of the triangle or sphere, without interpolation
  bool front = true;      ///< the ray comes from outside
  Vec3 color;             ///< the material's, textured
  const Material* material = nullptr;
};

[[nodiscard]] Surface make_surface(const Accelerator& accelerator, const Ray& ray, const Hit& hit);

struct Scattered {
  bool absorbed = false;
  bool diffuse = false;  ///< next-event estimation has counted the light that this direction may hit
  Vec3 direction;        ///< unit length
  Vec3 attenuation{1, 1, 1};
};

/// `direction`: of the incoming ray, unit length.
[[nodiscard]] Scattered scatter(const Surface& surface, const Vec3& direction, Random& random);

}  // namespace rayreplay::reference
