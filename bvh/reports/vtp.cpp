#include "bvh/reports/vtp.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>
#include <ostream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "base/write_failure.hpp"
#include "bvh/decoded_tree.hpp"

namespace rayreplay::bvh {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

constexpr std::size_t kCorners = 8;
/// VTK_HEXAHEDRON: the side of each axis that a corner is on.
constexpr std::array<std::array<bool, 3>, kCorners> kCorner = {{{false, false, false},
                                                                {true, false, false},
                                                                {true, true, false},
                                                                {false, true, false},
                                                                {false, false, true},
                                                                {true, false, true},
                                                                {true, true, true},
                                                                {false, true, true}}};
/// A path along all twelve edges; some are visited twice, because a cube has no Euler path.
constexpr std::array<std::int64_t, 16> kEdgePath = {0, 1, 2, 3, 0, 4, 5, 1, 5, 6, 2, 6, 7, 3, 7, 4};
constexpr std::array<std::int64_t, 24> kFaces = {0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4,
                                                 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7};
constexpr std::size_t kFacesOfBox = 6;
constexpr std::int32_t kTop = -1;

struct DrawnBox {
  Box box;
  std::uint32_t depth = 0;
  std::uint32_t children = 0;
  bool leaf = false;
  std::int64_t record = -1;
};

/// One level in the scene.
struct Placed {
  const Level* level = nullptr;
  const std::array<float, 12>* transform = nullptr;  ///< null: world space already
  std::int32_t instance = kTop;
  std::int32_t blas = kTop;
};

class Walk {
 public:
  Walk(const Bvh& bvh, std::uint32_t max_depth) : bvh_(bvh), max_depth_(max_depth) {}

  /// use(placed, box) for every box, always in the same order.
  template <class Use>
  void for_each(const Use& use) const {
    walk({&bvh_.top, nullptr, kTop, kTop}, use);
    for (std::size_t i = 0; i < bvh_.scene.instances.size(); ++i) {
      const SceneInstance& instance = bvh_.scene.instances[i];
      if (instance.active) {
        const auto number = static_cast<std::uint32_t>(i);
        walk({&bvh_.bottoms[instance.blas], &bvh_.scene.source(number).transform, static_cast<std::int32_t>(number),
              static_cast<std::int32_t>(instance.blas)},
             use);
      }
    }
  }

 private:
  struct Pending {
    Box box;
    std::uint32_t record = 0;
    std::uint32_t depth = 0;
  };

  template <class Use>
  void walk(const Placed& placed, const Use& use) const {
    const Level& level = *placed.level;
    if (level.empty()) {
      return;
    }
    std::vector<Pending> stack = {{level.bounds, 0, 0}};
    while (!stack.empty()) {
      const Pending node = stack.back();
      stack.pop_back();
      std::array<ChildView, kMaxWidth> children;
      const std::size_t count = bvh_.layout->decode(level, node.record, children);
      use(placed, DrawnBox{node.box, node.depth, static_cast<std::uint32_t>(count), false, node.record});
      if (node.depth == max_depth_) {
        continue;
      }
      for (std::size_t slot = 0; slot < count; ++slot) {
        if (children[slot].count > 0) {
          const ChildView& leaf = children[slot];
          const std::int64_t block = leaf.block == kNoBlock ? -1 : std::int64_t{leaf.block};
          use(placed, DrawnBox{leaf.box, node.depth + 1, leaf.count, true, block});
        }
      }
      for (std::size_t slot = count; slot-- > 0;) {
        if (children[slot].count == 0) {
          stack.push_back({children[slot].box, children[slot].index, node.depth + 1});
        }
      }
    }
  }

  const Bvh& bvh_;
  std::uint32_t max_depth_;
};

float to_float(double value) {
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<float>::max());
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

Vec3d moved(const Transformd& transform, const Vec3d& point) {
  return {dot(transform.row(0), point) + transform(0, 3), dot(transform.row(1), point) + transform(1, 3),
          dot(transform.row(2), point) + transform(2, 3)};
}

std::array<float, 3 * kCorners> corners(const Placed& placed, const Box& box) {
  const Box shown = finite_box(box, placed.level->bounds);
  std::array<float, 3 * kCorners> result;
  for (std::size_t corner = 0; corner < kCorners; ++corner) {
    Vec3d point;
    for (unsigned axis = 0; axis < 3; ++axis) {
      point[axis] = static_cast<double>(kCorner[corner][axis] ? shown.high[axis] : shown.low[axis]);
    }
    if (placed.transform != nullptr) {
      point = moved(as_transform(*placed.transform).cast<double>(), point);
    }
    Eigen::Map<Vec3>(result.data() + 3 * corner) = point.unaryExpr(&to_float);
  }
  return result;
}

class Writer {
 public:
  Writer(const Bvh& bvh, std::ostream& out, const VtpOptions& options)
      : walk_(bvh, options.max_depth), out_(out), options_(options) {
    walk_.for_each([this](const Placed& /*placed*/, const DrawnBox& /*box*/) { ++boxes_; });
  }

  std::uint64_t run() {
    constexpr std::uint64_t kPasses = 10;
    report_start(options_.progress, "writing boxes", boxes_ * kPasses);
    const bool faces = options_.shape == VtpShape::Faces;
    out_ << "<?xml version=\"1.0\"?>\n"
         << comment()
         << "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
         << " <PolyData>\n"
         << fmt::format(
                "  <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
                "NumberOfPolys=\"{}\">\n",
                boxes_ * kCorners, faces ? 0 : boxes_, faces ? boxes_ * kFacesOfBox : 0);
    write_cell_data();
    out_ << "   <Points>\n";
    array<std::array<float, 3 * kCorners>>(
        "Float32", "Points", 3, [](const Placed& placed, const DrawnBox& box) { return corners(placed, box.box); });
    out_ << "   </Points>\n";
    write_cells(faces);
    // The byte after the underscore is offset 0.
    out_ << "  </Piece>\n </PolyData>\n <AppendedData encoding=\"raw\">\n_";
    for (const std::function<void()>& write_block : blocks_) {
      write_block();
    }
    out_ << "\n </AppendedData>\n</VTKFile>\n";
    out_.flush();
    check();
    report_finish(options_.progress);
    return boxes_;
  }

 private:
  /// "--" would end the comment too early.
  [[nodiscard]] std::string comment() const {
    if (options_.comment.empty()) {
      return "";
    }
    std::string text;
    for (const char letter : options_.comment) {
      text += letter == '-' && text.ends_with('-') ? std::string(" -") : std::string(1, letter);
    }
    return "<!-- " + text + " -->\n";
  }

  void write_cell_data() {
    out_ << "   <CellData Scalars=\"depth\">\n";
    cells<std::int32_t>("Int32", "depth", [](const Placed& /*placed*/, const DrawnBox& box) {
      return static_cast<std::int32_t>(box.depth);
    });
    cells<std::uint8_t>("UInt8", "leaf", [](const Placed& /*placed*/, const DrawnBox& box) {
      return static_cast<std::uint8_t>(box.leaf ? 1 : 0);
    });
    cells<std::int32_t>("Int32", "children", [](const Placed& /*placed*/, const DrawnBox& box) {
      return static_cast<std::int32_t>(box.children);
    });
    cells<std::uint8_t>("UInt8", "level", [](const Placed& placed, const DrawnBox& /*box*/) {
      return static_cast<std::uint8_t>(placed.instance == kTop ? 0 : 1);
    });
    cells<std::int32_t>("Int32", "instance",
                        [](const Placed& placed, const DrawnBox& /*box*/) { return placed.instance; });
    cells<std::int32_t>("Int32", "blas", [](const Placed& placed, const DrawnBox& /*box*/) { return placed.blas; });
    cells<std::int64_t>("Int64", "record", [](const Placed& /*placed*/, const DrawnBox& box) { return box.record; });
    out_ << "   </CellData>\n";
  }

  void write_cells(bool faces) {
    const char* const element = faces ? "Polys" : "Lines";
    out_ << "   <" << element << ">\n";
    auto connect = [first = std::int64_t{0}](const auto& path) mutable {
      auto points = path;
      for (std::int64_t& point : points) {
        point += first;
      }
      first += static_cast<std::int64_t>(kCorners);
      return points;
    };
    if (faces) {
      array<std::array<std::int64_t, 24>>(
          "Int64", "connectivity", 1, [connect](const Placed&, const DrawnBox&) mutable { return connect(kFaces); });
      array<std::array<std::int64_t, kFacesOfBox>>("Int64", "offsets", 1,
                                                   [end = std::int64_t{0}](const Placed&, const DrawnBox&) mutable {
                                                     std::array<std::int64_t, kFacesOfBox> ends;
                                                     for (std::int64_t& face : ends) {
                                                       face = end += 4;
                                                     }
                                                     return ends;
                                                   });
    } else {
      array<std::array<std::int64_t, 16>>(
          "Int64", "connectivity", 1, [connect](const Placed&, const DrawnBox&) mutable { return connect(kEdgePath); });
      array<std::int64_t>("Int64", "offsets", 1, [end = std::int64_t{0}](const Placed&, const DrawnBox&) mutable {
        return end += static_cast<std::int64_t>(kEdgePath.size());
      });
    }
    out_ << "   </" << element << ">\n";
  }

  /// One value a cell.
  template <class T, class Value>
  void cells(const char* type, const char* name, const Value& value) {
    if (options_.shape == VtpShape::Edges) {
      array<T>(type, name, 1, value);
    } else {
      array<std::array<T, kFacesOfBox>>(type, name, 1, [value](const Placed& placed, const DrawnBox& box) {
        std::array<T, kFacesOfBox> copies;
        copies.fill(value(placed, box));
        return copies;
      });
    }
  }

  /// One T a box. The header of an array has the offset of its block (byte count and values), which follows all
  /// headers.
  template <class T, class Value>
  void array(const char* type, const char* name, int components, Value value) {
    out_ << fmt::format(
        "    <DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n", type,
        name, components, offset_);
    const std::uint64_t bytes = boxes_ * sizeof(T);
    offset_ += sizeof(bytes) + bytes;
    blocks_.push_back([this, bytes, value = std::move(value)]() mutable {
      write_value(bytes);
      std::uint64_t since_check = 0;
      walk_.for_each([&](const Placed& placed, const DrawnBox& box) {
        write_value(T{value(placed, box)});
        if (++since_check == kCheckEvery) {
          advance(std::exchange(since_check, 0));
        }
      });
      advance(since_check);
    });
  }

  template <class T>
  void write_value(const T& value) {
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &value, sizeof(T));
    out_.write(bytes.data(), bytes.size());
  }

  void advance(std::uint64_t boxes) {
    check();
    report_advance(options_.progress, boxes);
  }

  void check() const {
    if (!out_) {
      const int error = errno;
      throw Error(ErrorKind::Output,
                  {"cannot write the boxes", options_.name, std::strerror(error), "", fix_of_write_failure(error)});
    }
  }

  static constexpr std::uint64_t kCheckEvery = 4096;

  Walk walk_;
  std::ostream& out_;
  const VtpOptions& options_;
  std::uint64_t boxes_ = 0;
  std::uint64_t offset_ = 0;  ///< of the next block
  std::vector<std::function<void()>> blocks_;
};

}  // namespace

std::uint64_t write_vtp(const Bvh& bvh, std::ostream& out, const VtpOptions& options) {
  return Writer(bvh, out, options).run();
}

}  // namespace rayreplay::bvh
