// Entry of a ray into a box, rounded outward: traversal/classification/box_entry.cpp, operation by operation.
//
// Contract: equal bit for bit to the processor's `enter` in the range of judge_tests.hpp. Every computed variable is
// `precise`; minima and maxima are the standard library's, which return the first of equal operands.

struct SlabRay {
  double origin[3];
  double direction[3];
  double origin_terms[3];
  double direction_terms[3];
  double speed;
};

struct SlabEntry {
  bool met;
  double entry;
  bool met_from_origin;
};

// Replaces infinity: larger than every distance, and exact in arithmetic.
const double kVeryFar = 1.0715086071862673e301LF;  // 2^1000

double least(double a, double b) {
  return b < a ? b : a;
}

double greatest(double a, double b) {
  return a < b ? b : a;
}

double distance_of(float value) {
  const uint bits = floatBitsToUint(value);
  return bits == 0x7F800000u ? kVeryFar : exact_from_float(bits);
}

double length_of(double v[3]) {
  precise const double x = v[0] * v[0];
  precise const double y = v[1] * v[1];
  precise const double z = v[2] * v[2];
  precise const double xy = x + y;
  precise const double square = xy + z;
  return exact_sqrt(square);
}

SlabRay slab_ray(RayRecord ray, InstanceRecord instance) {
  const double origin[3] = {exact_from_float(floatBitsToUint(ray.origin_x)),
                            exact_from_float(floatBitsToUint(ray.origin_y)),
                            exact_from_float(floatBitsToUint(ray.origin_z))};
  const double direction[3] = {exact_from_float(floatBitsToUint(ray.direction_x)),
                               exact_from_float(floatBitsToUint(ray.direction_y)),
                               exact_from_float(floatBitsToUint(ray.direction_z))};
  SlabRay slab;
  if ((instance.flags & kInstanceIdentity) != 0u) {
    [[unroll]] for (uint axis = 0u; axis < 3u; ++axis) {
      slab.origin[axis] = origin[axis];
      slab.direction[axis] = direction[axis];
      slab.origin_terms[axis] = abs(origin[axis]);
      slab.direction_terms[axis] = abs(direction[axis]);
    }
  } else {
    [[unroll]] for (uint row = 0u; row < 3u; ++row) {
      precise double o_sum = instance.to_object[row * 4u + 3u];
      precise double o_terms = abs(o_sum);
      precise double d_sum = 0.0LF;
      precise double d_terms = 0.0LF;
      [[unroll]] for (uint column = 0u; column < 3u; ++column) {
        const double m = instance.to_object[row * 4u + column];
        precise const double o = m * origin[column];
        precise const double d = m * direction[column];
        o_sum = o_sum + o;
        o_terms = o_terms + abs(o);
        d_sum = d_sum + d;
        d_terms = d_terms + abs(d);
      }
      slab.origin[row] = o_sum;
      slab.origin_terms[row] = o_terms;
      slab.direction[row] = d_sum;
      slab.direction_terms[row] = d_terms;
    }
  }
  slab.speed = length_of(slab.direction);
  return slab;
}

bool is_empty(BoxRecord box) {
  return floatBitsToUint(box.low[0]) == 0x7F800000u;
}

SlabEntry enter(BoxRecord box, SlabRay ray, double t_min, double t_max, double unit) {
  if (is_empty(box)) {
    return SlabEntry(false, 0.0LF, false);
  }
  double planes_low[3];
  double planes_high[3];
  double low[3];
  double high[3];
  precise double reach = 0.0LF;
  [[unroll]] for (uint axis = 0u; axis < 3u; ++axis) {
    planes_low[axis] = exact_from_float(floatBitsToUint(box.low[axis]));
    planes_high[axis] = exact_from_float(floatBitsToUint(box.high[axis]));
    precise const double to_low = planes_low[axis] - ray.origin[axis];
    precise const double to_high = planes_high[axis] - ray.origin[axis];
    low[axis] = to_low;
    high[axis] = to_high;
    reach = reach + greatest(abs(to_low), abs(to_high));
  }
  precise const double min_slack = abs(t_min) * unit;
  precise const double max_slack = abs(t_max) * unit;
  precise const double lowered = t_min - min_slack;
  double line = -kVeryFar;  // entry of the ray's line into the box
  precise double far = t_max + max_slack;
  [[unroll]] for (uint axis = 0u; axis < 3u; ++axis) {
    const double d = ray.direction[axis];
    const double terms = ray.direction_terms[axis];
    precise const double reach_terms = reach * terms;
    const double at_corner = ray.speed > 0.0LF ? exact_divide(reach_terms, ray.speed) : reach;
    precise double low_at = at_corner;
    precise double high_at = at_corner;
    if (d != 0.0LF) {
      const double share = exact_divide(terms, abs(d));
      low_at = abs(low[axis]) * share;
      high_at = abs(high[axis]) * share;
      low_at = least(low_at, at_corner);
      high_at = least(high_at, at_corner);
    }
    precise const double low_plane = ray.origin_terms[axis] + abs(planes_low[axis]);
    precise const double high_plane = ray.origin_terms[axis] + abs(planes_high[axis]);
    precise const double low_sum = low_plane + low_at;
    precise const double high_sum = high_plane + high_at;
    precise const double low_pad = unit * low_sum;
    precise const double high_pad = unit * high_sum;
    precise const double below = low[axis] - low_pad;
    precise const double above = high[axis] + high_pad;
    if (d == 0.0LF) {
      if (below > 0.0LF || above < 0.0LF) {
        return SlabEntry(false, 0.0LF, false);
      }
      continue;
    }
    const double a = exact_divide(below, d);
    const double b = exact_divide(above, d);
    line = greatest(line, least(a, b));
    far = least(far, greatest(a, b));
  }
  const double near = greatest(lowered, line);
  return SlabEntry(near <= far, near, greatest(0.0LF, line) <= far);
}
