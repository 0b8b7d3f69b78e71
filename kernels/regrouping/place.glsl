// The place of a pending call (scheduler-models/regrouping/reorder_key.hpp), in the processor's double arithmetic.
#include "kernels/regrouping/access.glsl"
#include "kernels/arithmetic/exact.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  PlacePush push;
};

#include "kernels/regrouping/pending_ray.glsl"

struct Point {
  double at[3];
};

bool is_finite(double value) {
  return (uint(doubleBitsToUint64(value) >> 32) & 0x7FF00000u) != 0x7FF00000u;
}
bool is_finite(Point point) {
  return is_finite(point.at[0]) && is_finite(point.at[1]) && is_finite(point.at[2]);
}

/// A miss may go by its direction, which needs no box.
bool is_direction(uint kind) {
  return push.place == kPlaceHit && kind == kMiss;
}

/// Column 0 to 2: origin, 3 to 5: direction.
double ray_value(uint column, uint ray) {
  return exact_from_float(word_at(long_at(push.columns, column), ray));
}

Point point_of(uint kind, uint row, uint ray) {
  Point point;
  if (push.place == kPlaceRay) {
    for (uint axis = 0; axis < 3; ++axis) {
      point.at[axis] = ray_value(axis, ray);
    }
    return point;
  }
  precise const double x = ray_value(3, ray);
  precise const double y = ray_value(4, ray);
  precise const double z = ray_value(5, ray);
  precise double scale;
  if (is_direction(kind)) {
    precise const double xx = x * x;
    precise const double yy = y * y;
    precise const double zz = z * z;
    precise const double two = xx + yy;
    precise const double square = two + zz;
    scale = exact_divide(1.0LF, exact_sqrt(square));
  } else {
    scale = exact_from_float(word_at(long_at(push.columns, 6), row));
  }
  for (uint axis = 0; axis < 3; ++axis) {
    precise const double from = is_direction(kind) ? 0.0LF : ray_value(axis, ray);
    precise const double along = scale * (axis == 0 ? x : axis == 1 ? y : z);
    precise const double sum = from + along;
    point.at[axis] = sum;
  }
  return point;
}
