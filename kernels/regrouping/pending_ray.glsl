// The ray of a pending call. Included after the push constants, whose columns it reads.
/// The row of the pending ray. `row` is the event, `begin` the thread's first.
uint ray_of(uint thread, uint segment, uint row, uint begin) {
  const uint first_ray = uint(long_at(push.ray_offset, thread));
  if (push.ray != 0) {
    return first_ray + word_at(push.ray, row);
  }
  const uint bounce = half_at(push.bounce, segment);
  if (bounce < 65535) {
    return first_ray + bounce;
  }
  uint begun = 0;
  for (uint i = begin; i < row; ++i) {
    begun += byte_at(push.kind, i) <= kOcclusionBegin ? 1 : 0;
  }
  return first_ray + begun - 1;
}
