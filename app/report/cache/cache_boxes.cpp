#include "app/report/cache/cache_boxes.hpp"

#include <algorithm>
#include <array>

#include "app/report/export/hdf5_columns.hpp"

namespace rayreplay::report {
namespace {

/// Boxes of all records reachable from the root. A record's box is stored in its parent.
void place_level(const bvh::Bvh& structure, const bvh::Level& level, std::uint64_t start, std::uint32_t blas,
                 std::vector<PlacedBox>& boxes) {
  if (level.empty()) {
    return;
  }
  struct Open {
    std::uint32_t record;
    std::uint32_t depth;
    bvh::Box box;
  };
  std::vector<Open> open = {{0, 0, level.bounds}};
  std::array<bvh::ChildView, bvh::kMaxWidth> children;
  const auto add = [&](std::uint32_t record, std::uint32_t depth, const bvh::Box& box) {
    boxes.push_back({start + std::uint64_t{record} * level.node_bytes, blas, depth, box});
  };
  while (!open.empty()) {
    const Open node = open.back();
    open.pop_back();
    add(node.record, node.depth, node.box);
    const std::size_t count = structure.layout->decode(level, node.record, children);
    for (std::size_t i = 0; i < count; ++i) {
      if (children[i].count == 0) {
        open.push_back({children[i].index, node.depth + 1, children[i].box});
      } else if (children[i].block != bvh::kNoBlock) {
        add(children[i].block, node.depth + 1, children[i].box);
      }
    }
  }
}

}  // namespace

std::vector<PlacedBox> place_boxes(const bvh::Bvh& structure) {
  std::vector<PlacedBox> boxes;
  place_level(structure, structure.top, structure.memory.top_nodes, kWorldSpace, boxes);
  for (std::uint32_t blas = 0; blas < structure.bottoms.size(); ++blas) {
    place_level(structure, structure.bottoms[blas], structure.memory.bottom_nodes[blas], blas, boxes);
  }
  for (std::size_t i = 0; i < structure.scene.instances.size(); ++i) {
    if (structure.scene.instances[i].active) {
      boxes.push_back({structure.memory.instances + std::uint64_t{i} * bvh::kInstanceBytes, kWorldSpace, 0,
                       structure.scene.instances[i].world});
    }
  }
  return boxes;
}

void write_boxes(hid_t root, const std::vector<PlacedBox>& boxes, const memory::Allocations& allocations,
                 const hdf5::Place& place) {
  struct Row {
    std::uint32_t element;
    const PlacedBox* placed;
  };
  memory::Allocations::Cursor cursor;
  std::vector<Row> rows;
  for (const PlacedBox& placed : boxes) {
    const std::uint32_t allocation = allocations.find(placed.address, cursor);
    if (allocation != memory::kNoAllocation) {
      rows.push_back({allocations.element(allocation, placed.address), &placed});
    }
  }
  std::ranges::sort(rows, {}, &Row::element);
  const trace::hdf5::Handle group = hdf5::make_group(root, "boxes");
  hdf5::column(group.get(), "element", hdf5::gather(rows, &Row::element), place);
  hdf5::column(group.get(), "blas", hdf5::gather(rows, [](const Row& row) { return row.placed->blas; }), place);
  hdf5::column(group.get(), "depth", hdf5::gather(rows, [](const Row& row) { return row.placed->depth; }), place);
  constexpr std::array kNames = {"min_x", "min_y", "min_z", "max_x", "max_y", "max_z"};
  for (unsigned i = 0; i < kNames.size(); ++i) {
    hdf5::column(
        group.get(), kNames[i],
        hdf5::gather(rows,
                     [i](const Row& row) { return i < 3 ? row.placed->box.low[i] : row.placed->box.high[i - 3]; }),
        place);
  }
}

}  // namespace rayreplay::report
