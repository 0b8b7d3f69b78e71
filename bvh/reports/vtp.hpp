// Boxes of an acceleration structure as VTK XML PolyData (.vtp), for ParaView.
//
// Contract: writes every box that a traversal of the structure may test: of each level its bounds (depth 0) and the
// decoded boxes of all children down to depth `max_depth`, those of bottom-level structures once for each active
// instance, taken into world space (8 corners each, no longer parallel to the axes). Top level first, then instances in
// ascending order, each level depth-first. A box has 8 points, in VTK's order of a hexahedron, and is one polyline
// through its 12 edges (`Edges`) or six quadrilaterals (`Faces`). Planes that half precision made infinite are drawn at
// the level's bounds; coordinates beyond the floats at the largest float. Cell data, one value a cell:
//
//   depth     Int32  in its level
//   leaf      UInt8  1: a leaf
//   children  Int32  of a node; references of a leaf
//   level     UInt8  0: top, 1: bottom
//   instance  Int32  −1: top level
//   blas      Int32  −1: top level
//   record    Int64  of a node, or of a leaf's block; −1: neither
//
// Format: version 1.0, little-endian, arrays as raw appended data with 64-bit byte counts (VTK's documentation,
// "VTK XML file formats"). The boxes are walked once for each array: memory is O(depth · width), whatever the number of
// boxes. Throws Output as soon as the stream fails; `name` stands for it in messages. `comment` goes into an XML
// comment.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "base/progress.hpp"
#include "bvh/bvh.hpp"

namespace rayreplay::bvh {

enum class VtpShape : std::uint8_t { Edges, Faces };

struct VtpOptions {
  std::uint32_t max_depth = 0xFFFF'FFFFU;
  VtpShape shape = VtpShape::Edges;
  std::string name = {};
  std::string comment = {};
  Progress* progress = nullptr;
};

/// The number of boxes written.
std::uint64_t write_vtp(const Bvh& bvh, std::ostream& out, const VtpOptions& options = {});

}  // namespace rayreplay::bvh
