// What a hit shader finds behind its handle in the shader binding table: one record for each geometry
// (capture/apps/mesh_viewer/mesh_scene.hpp has the same struct). Arrays are reached by their addresses.
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Points {
  vec3 at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Pairs {
  vec2 at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Words {
  uint at[];
};
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Spheres {
  vec4 at[];
};

layout(shaderRecordEXT, scalar) buffer Record {
  Points positions;    // triangles
  Words indices;       // triangles, of 16 or 32 bits
  Points normals;      // may be null, as the following two
  Pairs uvs;
  Words material_ids;  // one a primitive; null: `material` is that of all
  Spheres spheres;     // boxes: centre and radius
  Material material;
  uint index_bits;
  float hole_size;     // of the procedural cut-outs; 0: none
  uint sampled_light;  // shadow rays already bring this geometry's light
  uint unused;
}
record;

struct TextureInfo {
  Words texels;  // RGBA, 8 bits each
  uint width;
  uint height;
};

layout(set = 0, binding = 4, scalar) readonly buffer Materials {
  Material materials[];
};
layout(set = 0, binding = 5, scalar) readonly buffer Textures {
  TextureInfo textures[];
};

const uint kNoTexture = 0xFFFFFFFFu;

bool is_null(Words words) {
  return uint64_t(words) == 0;
}

Material material_of(uint primitive) {
  // Not by the conditional operator: glslang 12 makes invalid code of one between structs of different layouts.
  if (is_null(record.material_ids)) {
    return record.material;
  }
  return materials[record.material_ids.at[primitive]];
}

/// The three vertices of a triangle.
uvec3 corners_of(uint primitive) {
  const uint first = primitive * 3;
  if (record.index_bits == 32) {
    return uvec3(record.indices.at[first], record.indices.at[first + 1], record.indices.at[first + 2]);
  }
  uvec3 corners;
  for (uint i = 0; i < 3; ++i) {
    const uint place = first + i;
    corners[i] = (record.indices.at[place / 2] >> (16 * (place % 2))) & 0xFFFFu;
  }
  return corners;
}

/// Nearest texel, repeating; colours are stored as square roots. White where there is no texture.
vec4 look_up(Material material, vec2 point) {
  if (material.texture_id == kNoTexture) {
    return vec4(1);
  }
  const uint width = textures[material.texture_id].width;
  const uint height = textures[material.texture_id].height;
  const vec2 fraction = point - floor(point);
  const uint column = min(uint(fraction.x * float(width)), width - 1);
  const uint row = min(uint(fraction.y * float(height)), height - 1);
  const vec4 texel = unpackUnorm4x8(textures[material.texture_id].texels.at[row * width + column]);
  return vec4(texel.rgb * texel.rgb, texel.a);
}

#ifdef SPHERES
hitAttributeEXT vec3 outward;

vec2 texture_point(uint primitive) {
  return 0.5 + 0.5 * normalize(outward).xy;
}
#else
hitAttributeEXT vec2 weights;  // of the second and third vertex

vec2 texture_point(uint primitive) {
  if (uint64_t(record.uvs) == 0) {
    return weights;
  }
  const uvec3 corner = corners_of(primitive);
  return (1 - weights.x - weights.y) * record.uvs.at[corner.x] + weights.x * record.uvs.at[corner.y] +
         weights.y * record.uvs.at[corner.z];
}
#endif
