// Hit rates by an element's place: depth of nodes, projected size and facing of triangles (`--element-groups`).
//
// Contract: sums over requests, as by element (sim/memory/results/sums.hpp), of a launch. Groups of a division (`by`)
// do not overlap:
//   top depth, bottom depth   nodes and leaf blocks by their depth below the root of their tree
//   pixels                    triangles by the number of pixels that they would cover if nothing hid them, in octaves:
//                             their solid angle from the camera over a pixel's (Van Oosterom and Strackee, IEEE TBME
//                             1983)
//   facing                    triangles by the angle between normal and view direction at their centre: `front` or
//                             `back` up to 60 degrees, else `front-slanted` or `back-slanted`. On the front side
//                             corners turn counter-clockwise
// The camera is the mean origin of the first rays of the frame's corners; a pixel's solid angle is that between those
// rays over the pixels. Both assume a pinhole camera; groups of other cameras have no meaning. Triangles outside the
// view count as others do. Triangles of structures with several instances have several sizes: they are the group
// `instanced` of both divisions. Without a frame of two rows and columns, or without rays in its corners, there are no
// sizes and facings. O(elements + triangles) time, 48 bytes an element. Source of the questions: von Buelow et al.
// 2023, section 6.2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/charts/plot.hpp"
#include "app/report/export/table.hpp"
#include "bvh/bvh.hpp"
#include "capture/trace/trace.hpp"
#include "sim/memory/allocations.hpp"
#include "sim/memory/results/sums.hpp"

namespace rayreplay::report {

struct ElementGroup {
  std::string by, group;
  std::uint64_t elements = 0;  ///< with a request
  memory::RequestSums sums;
};

/// Sums by element of the whole stream.
class ElementSums {
 public:
  void add(const std::vector<memory::ElementRow>& rows);
  [[nodiscard]] const std::vector<memory::RequestSums>& rows() const {
    return rows_;
  }

 private:
  std::vector<memory::RequestSums> rows_;  ///< by element
};

/// Groups with a request, in order.
[[nodiscard]] std::vector<ElementGroup> group_elements(const ElementSums& sums, const bvh::Bvh& structure,
                                                       const trace::Trace& trace, const trace::Launch& launch,
                                                       const memory::Allocations& allocations);

/// Hit rates over requests; keys: docs/surfaces.md.
[[nodiscard]] output::Table group_table(const std::vector<ElementGroup>& groups);
/// Hit rates of both levels, a chart for each division.
[[nodiscard]] std::vector<pictures::Chart> group_charts(const std::vector<ElementGroup>& groups);

}  // namespace rayreplay::report
