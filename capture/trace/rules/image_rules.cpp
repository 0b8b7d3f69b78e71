// Rules of the images in the descriptors of launches.
#include <algorithm>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "capture/trace/file/storage.hpp"
#include "capture/trace/image_shape.hpp"
#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> place_of(const Images& images, std::size_t row) {
  return {images.set[row], images.binding[row], images.element[row]};
}

bool check_lengths(const Images& images, const std::string& path, FaultList& faults) {
  bool sound = true;
  visit_images(images, [&](const char* name, const auto& column) {
    if (column.size() != images.size()) {
      faults.add(path + "/" + name, "the column has another number of rows than its table",
                 std::to_string(column.size()), std::to_string(images.size()));
      sound = false;
    }
  });
  return sound;
}

}  // namespace

void check_launch_images(const Images& images, const std::string& path, FaultList& faults) {
  if (!check_lengths(images, path, faults)) {
    return;
  }
  for (std::size_t row = 0; row < images.size() && !faults.full(); ++row) {
    if (row > 0 && place_of(images, row - 1) >= place_of(images, row)) {
      faults.add_row(
          path + "/element", row, "the rows do not ascend",
          fmt::format("set {}, binding {}, element {}", images.set[row], images.binding[row], images.element[row]),
          "each descriptor once, by set, binding and element");
    }
    if (const auto filter = static_cast<std::size_t>(images.filter[row]); filter >= kFilters) {
      faults.add_row(path + "/filter", row, "there is no such filter", std::to_string(filter),
                     fmt::format("less than {}", kFilters));
    }
    if (const std::string fault =
            image_shape_fault(image_shape(images, row), images.base_layer[row], images.base_level[row]);
        !fault.empty()) {
      faults.add_row(path + "/image", row, fault, fmt::format("image {}", images.image[row]), "a view of an image");
    }
  }
}

void check_images(const Trace& trace, FaultList& faults) {
  std::vector<ImageShape> shapes;  // by image
  for (std::size_t launch = 0; launch < trace.launches.size(); ++launch) {
    const Images& images = trace.launches[launch].images;
    const std::string dataset = fmt::format("/launch/{}/images/image", launch);
    for (std::size_t row = 0; row < images.size() && !faults.full(); ++row) {
      const std::uint32_t image = images.image[row];
      const ImageShape shape = image_shape(images, row);
      if (image > shapes.size()) {
        faults.add_row(dataset, row, "the numbers of images are not dense", std::to_string(image),
                       fmt::format("at most {}, in order of first appearance", shapes.size()));
        return;
      }
      if (image == shapes.size()) {
        shapes.push_back(shape);
      } else if (shapes[image] != shape) {
        faults.add_row(dataset, row, "an image has two sizes or two kinds of blocks", std::to_string(image),
                       "rows of one image that agree in all but their views");
      }
    }
  }
}

bool has_image(const Images& images, std::uint32_t set, std::uint32_t binding, std::uint32_t element) {
  std::size_t first = 0;
  for (std::size_t count = images.size(); count > 0;) {
    const std::size_t half = count / 2;
    const bool before = place_of(images, first + half) < std::tuple(set, binding, element);
    first = before ? first + half + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first < images.size() && place_of(images, first) == std::tuple(set, binding, element);
}

}  // namespace rayreplay::trace
