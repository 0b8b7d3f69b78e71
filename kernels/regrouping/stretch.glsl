// The key of a thread in sorted order, and whether it begins a stretch that warps do not cross.
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  StretchPush push;
};

uint64_t key_at(uint i) {
  return push.wide != 0 ? long_at(push.keys, i) : uint64_t(word_at(push.keys, i));
}
uint64_t above(uint64_t key, uint bits) {
  return bits >= 64 ? 0 : key >> bits;
}
bool begins_stretch(uint i) {
  return i == 0 || above(key_at(i), push.shift) != above(key_at(i - 1), push.shift);
}
