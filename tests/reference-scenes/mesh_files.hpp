// Small sound meshes to start from.
#pragma once

#include <string>
#include <string_view>

#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {

/// A quad and a triangle, one of metal with negative indices, with texture coordinates and one normal.
inline constexpr std::string_view kObj =
    "# a quad and a triangle\n"
    "mtllib scene.mtl\n"
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"
    "vn 0 0 1\n"
    "usemtl paint\n"
    "f 1/1/1 2/2/1 3/3/1 4/4/1\n"
    "v 0 0 -2\nv 1 0 -2\nv 0 1 -2\n"
    "usemtl steel\n"
    "f -3 -2 -1\n";

inline constexpr std::string_view kMtl =
    "newmtl paint\nKd 0.2 0.4 0.6\n"
    "newmtl steel\nKd 0.1 0.1 0.1\nKs 0.9 0.8 0.7\nNs 100\nillum 3\n"
    "newmtl lamp\nKd 0 0 0\nKe 5 6 7\n"
    "newmtl glass\nKd 1 1 1\nNi 1.4\nd 0.1\nillum 7\n";

inline constexpr std::string_view kPly =
    "ply\nformat ascii 1.0\ncomment a pyramid without a floor\n"
    "element vertex 5\nproperty float x\nproperty float y\nproperty float z\nproperty uchar quality\n"
    "element face 3\nproperty uchar material\nproperty list uchar int vertex_indices\n"
    "element edge 1\nproperty int a\nproperty list uchar float weights\n"
    "end_header\n"
    "0 0 0 1\n1 0 0 2\n1 0 1 3\n0 0 1 4\n0.5 1 0.5 5\n"
    "9 4 0 1 2 3\n9 3 0 1 4\n9 3 1 2 4\n"
    "7 2 0.5 0.25\n";

/// kPly's content in binary; `big`: most significant byte first.
std::string binary_ply(bool big);

/// One triangle with indices, two instances of it, a MASK material; `buffer` is the data's base64.
std::string gltf(std::string_view extra_root = "");

/// The same as a .glb.
std::string glb();

}  // namespace rayreplay::test
