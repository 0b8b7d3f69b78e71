// Two triangles that cover the picture.
#version 450
layout(location = 0) out vec2 place;

void main() {
  const vec2 corners[4] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(-1, 1), vec2(1, 1));
  int corner = gl_VertexIndex < 3 ? gl_VertexIndex : gl_VertexIndex - 2;
  place = corners[corner];
  gl_Position = vec4(place, 0, 1);
}
