// 40x24 fragments: those of the first 8 columns are discarded, odd rows of the rest take the branch. Differences between
// neighbours need helper invocations along the triangles' common edge.
#version 450
layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

float shade(const bool odd) {
  float slope = fwidth(place.x) + fwidth(place.y);
  if (odd) {
    slope *= 0.5;
  }
  return slope;
}

void main() {
  if (gl_FragCoord.x < 8.0) {
    discard;
  }
  bool odd = (uint(gl_FragCoord.y) & 1u) == 1u;
  colour = vec4(shade(odd), 0.5 + 0.25 * place.x, 0.5 + 0.25 * place.y, 1);
}
