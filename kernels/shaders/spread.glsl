// Morton codes in space. Include after common.glsl.

/// Bit i goes to bit 3i; 21 bits.
uint64_t spread3(uint64_t v) {
  v &= 0x1FFFFFul;
  v = (v | (v << 32)) & 0x001F00000000FFFFul;
  v = (v | (v << 16)) & 0x001F0000FF0000FFul;
  v = (v | (v << 8)) & 0x100F00F00F00F00Ful;
  v = (v | (v << 4)) & 0x10C30C30C30C30C3ul;
  return (v | (v << 2)) & 0x1249249249249249ul;
}
