// Position on a curve of the origin or direction of a thread's ray.
//
// Contract: as scheduler-models/spatial_order.cpp and space_filling.cpp, number by number. Specialization constants 0:
// directions, 1: Hilbert. Threads without a place get 1 << (axes · bits), behind all others. One thread a list entry.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/curve.glsl"
#include "kernels/packing/exact.glsl"
#include "kernels/shaders/spread.glsl"

layout(constant_id = 0) const bool kDirections = false;
layout(constant_id = 1) const bool kHilbert = false;

const uint kAxes = kDirections ? 2 : 3;

double power_of_two(uint exponent) {
  return packDouble2x32(uvec2(0, (1023 + exponent) << 20));
}

/// `share` (0 to 1) of 2^bits parts.
uint part_of(double share) {
  const precise double parts = power_of_two(push.bits);
  const precise double part = share * parts;
  const precise double last = parts - 1.0lf;
  return uint(part < last ? part : last);
}

bool origin_cell(uvec3 bits, out uvec3 cell) {
  for (uint axis = 0; axis < 3; ++axis) {
    const precise double low = widen(from_ordered(word_at(push.bounds, axis).at[0]));
    const precise double high = widen(from_ordered(word_at(push.bounds, 3 + axis).at[0]));
    const precise double extent = high - low;
    cell[axis] = 0;
    if (extent > 0.0lf) {
      const precise double from_low = widen(bits[axis]) - low;
      cell[axis] = part_of(divide(from_low, extent));
    }
  }
  return true;
}

/// 1 − |size|, with the sign of `sign`.
double folded(double size, double sign) {
  const precise double result = 1.0lf - abs(size);
  return (to_bits(sign) >> 63) != 0 ? -result : result;
}

bool direction_cell(uvec3 bits, out uvec3 cell) {
  cell = uvec3(0);
  const double x = widen(bits.x);
  const double y = widen(bits.y);
  const double z = widen(bits.z);
  const precise double in_plane = abs(x) + abs(y);
  const precise double length = in_plane + abs(z);
  if (!(length > 0.0lf)) {
    return false;
  }
  double u = divide(x, length);
  double v = divide(y, length);
  if (z < 0.0lf) {
    const double folded_u = folded(v, u);
    v = folded(u, v);
    u = folded_u;
  }
  const precise double from_left = u + 1.0lf;
  const precise double from_below = v + 1.0lf;
  cell = uvec3(part_of(from_left * 0.5lf), part_of(from_below * 0.5lf), 0);
  return true;
}

/// Bit i goes to bit 2i.
uint64_t spread2(uint64_t v) {
  v = (v | (v << 16)) & 0x0000FFFF0000FFFFul;
  v = (v | (v << 8)) & 0x00FF00FF00FF00FFul;
  v = (v | (v << 4)) & 0x0F0F0F0F0F0F0F0Ful;
  v = (v | (v << 2)) & 0x3333333333333333ul;
  return (v | (v << 1)) & 0x5555555555555555ul;
}

/// Skilling's AxestoTranspose.
void axes_to_transpose(inout uvec3 axis) {
  const uint top = 1u << (push.bits - 1);
  for (uint bit = top; bit > 1; bit >>= 1) {
    const uint below = bit - 1;
    for (uint a = 0; a < kAxes; ++a) {
      if ((axis[a] & bit) != 0) {
        axis[0] ^= below;
      } else {
        const uint differing = (axis[0] ^ axis[a]) & below;
        axis[0] ^= differing;
        axis[a] ^= differing;
      }
    }
  }
  for (uint a = 1; a < kAxes; ++a) {
    axis[a] ^= axis[a - 1];
  }
  uint flip = 0;
  for (uint bit = top; bit > 1; bit >>= 1) {
    if ((axis[kAxes - 1] & bit) != 0) {
      flip ^= bit - 1;
    }
  }
  axis ^= uvec3(flip);
}

uint64_t code(uvec3 cell) {
  if (kHilbert) {
    axes_to_transpose(cell);
    cell = kDirections ? cell.yxz : cell.zyx;
  }
  if (kDirections) {
    return spread2(cell.x) | spread2(cell.y) << 1;
  }
  return spread3(cell.x) | spread3(cell.y) << 1 | spread3(cell.z) << 2;
}

void main() {
  const uint64_t i = item_number(push.first_group);
  if (i >= push.count) {
    return;
  }
  uint64_t key = 1ul << (kAxes * push.bits);
  uvec3 bits;
  if (vector_of(word_at(push.threads, i).at[0], bits)) {
    uvec3 cell;
    if (kDirections ? direction_cell(bits, cell) : origin_cell(bits, cell)) {
      key = code(cell);
    }
  }
  long_at(push.keys, i).at[0] = key;
}
