// The texel of an access to an image, packed for its record (trace/texel_address.hpp). C++ sees the shapes alone.
#ifndef RAYREPLAY_PROBE_TEXELS_H
#define RAYREPLAY_PROBE_TEXELS_H

// The shape of an image
#define RR_IMAGE_1D 0u
#define RR_IMAGE_2D 1u
#define RR_IMAGE_3D 2u
#define RR_IMAGE_CUBE 3u
#define RR_IMAGE_ARRAY 4u // bit: an array of these

#ifndef __cplusplus

// Without a texel: coordinates that the record has no room for, negative ones among them.
uvec2 packed_texel(const uvec4 texel, const uint element) {
  bool fits = (texel.x | texel.y) < 0x10000u && element < 0x8000u && texel.z < 0x1000u && texel.w < 0x10u;
  uvec2 words = uvec2(texel.x | texel.y << 16, texel.z | texel.w << 12 | element << 16);
  return fits ? words : uvec2(RR_NO_TEXEL);
}

// The Vulkan specification's nearest(d) = ceil(d + 0.5) - 1, within the levels.
uint nearest_level(const float lod, const uint levels) {
  float level = ceil(lod + 0.5) - 1.0;
  return level > 0.0 && levels > 0u ? uint(min(level, float(levels - 1u))) : 0u;
}

// The specification's "Cube Map Face Selection".
uint face_of(const vec3 direction) {
  vec3 a = abs(direction);
  if (a.z >= a.x && a.z >= a.y) {
    return direction.z < 0.0 ? 5u : 4u;
  }
  if (a.y >= a.x) {
    return direction.y < 0.0 ? 3u : 2u;
  }
  return direction.x < 0.0 ? 1u : 0u;
}

// The table there: s, t, and the length of the major axis.
vec3 on_face(const vec3 r, const uint face) {
  if (face < 2u) {
    return face == 0u ? vec3(-r.z, -r.y, r.x) : vec3(r.z, -r.y, -r.x);
  }
  if (face < 4u) {
    return face == 2u ? vec3(r.x, r.z, r.y) : vec3(r.x, -r.z, -r.y);
  }
  return face == 4u ? vec3(r.x, -r.y, r.z) : vec3(-r.x, -r.y, -r.z);
}

// The largest change in texels from a thread to its neighbour, as a level. Samplers that are anisotropic would take less.
float lod_of_gradients(const vec3 at, const vec3 along_x, const vec3 along_y, const uvec3 extent, const uint form) {
  vec3 x = along_x;
  vec3 y = along_y;
  vec3 size = vec3(extent);
  uint dimension = form & 3u;
  if (dimension == RR_IMAGE_CUBE) {
    // "Cube Map Derivative Transformation"
    uint face = face_of(at);
    vec3 p = on_face(at, face);
    x = on_face(x, face);
    y = on_face(y, face);
    x.xy = (x.xy * p.z - p.xy * x.z) * (0.5 / (p.z * p.z));
    y.xy = (y.xy * p.z - p.xy * y.z) * (0.5 / (p.z * p.z));
  }
  if (dimension != RR_IMAGE_3D) {
    size.z = 0.0;
  }
  if (dimension == RR_IMAGE_1D) {
    size.y = 0.0;
  }
  x *= size;
  y *= size;
  return 0.5 * log2(max(dot(x, x), dot(y, y)));
}

bool is_number(const float x) {
  return abs(x) < 1e30;
}

// floor(parts * u * extent) of a coordinate that repeats, moved by a number of texels. extent * parts is at most 2^16.
uint repeated(const float u, const uint extent, const uint offset, const uint parts) {
  uint all = parts * extent;
  float fraction = min(u - floor(u), 0.99999994);
  uint place = min(uint(fraction * float(all)), all - 1u);
  int move = int(offset);
  uint moved = uint(abs(move)) % extent;
  moved = move < 0 ? extent - moved : moved;
  return (place + parts * moved) % all;
}

// Whether the coordinate, before or after it is moved, is outside of [0, 1).
bool leaves(const float u, const uint extent, const uint offset) {
  float whole = floor(u);
  uint texel = min(uint(min(u - whole, 0.99999994) * float(extent)), extent - 1u);
  int move = int(offset);
  return whole != 0.0 || (move < 0 ? texel < uint(-move) : uint(move) >= extent - texel);
}

uint nearest_layer(const float layer, const uint layers) {
  return uint(clamp(roundEven(layer), 0.0, float(layers - 1u)));
}

uvec2 sampled_texel(const vec4 at, const uvec3 offset, const uvec4 extent, const uint form, const uint level,
                    const uint element) {
  uint dimension = form & 3u;
  bool in_array = (form & RR_IMAGE_ARRAY) != 0u;
  uvec2 size = max(extent.xy >> level, uvec2(1u));
  bool fits = all(lessThanEqual(extent.xy, uvec2(0x8000u))) && all(notEqual(extent.xyz, uvec3(0u))) &&
              is_number(at.x) && is_number(at.y) && is_number(at.z) && is_number(at.w);
  uvec4 texel = uvec4(0u, 0u, 0u, level);
  bool outside = false;
  if (dimension == RR_IMAGE_CUBE) {
    uint face = face_of(at.xyz);
    vec3 p = on_face(at.xyz, face);
    fits = fits && p.z > 0.0;
    // The sides of a face end it: nothing repeats.
    vec2 st = clamp(p.xy / p.z * 0.5 + 0.5, 0.0, 1.0);
    texel.xy = min(uvec2(st * vec2(2u * size)), 2u * size - 1u);
    texel.z = face + (in_array ? 6u * nearest_layer(at.w, extent.z) : 0u);
  } else {
    texel.x = repeated(at.x, size.x, offset.x, 2u);
    outside = leaves(at.x, size.x, offset.x);
    if (dimension != RR_IMAGE_1D) {
      texel.y = repeated(at.y, size.y, offset.y, 2u);
      outside = outside || leaves(at.y, size.y, offset.y);
    }
    if (dimension == RR_IMAGE_3D) {
      uint slices = max(extent.z >> level, 1u);
      texel.z = repeated(at.z, slices, offset.z, 1u);
      outside = outside || leaves(at.z, slices, offset.z);
    } else if (in_array) {
      texel.z = nearest_layer(at.z, extent.z);
    }
  }
  if (!fits) {
    return uvec2(RR_NO_TEXEL);
  }
  uvec2 packed = packed_texel(texel, element);
  return outside && packed != uvec2(RR_NO_TEXEL) ? packed | uvec2(0u, 0x80000000u) : packed;
}

#endif

#endif
