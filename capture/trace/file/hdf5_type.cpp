#include "capture/trace/file/hdf5_type.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rayreplay::trace::hdf5 {

std::string type_text(hid_t type) {
  constexpr std::size_t kBits = 8;
  const std::size_t bytes = H5Tget_size(type);
  const auto numbers = [&](const char* kind) {
    const char* const order = H5Tget_order(type) == H5T_ORDER_BE ? "big-endian" : "little-endian";
    return bytes == 1 ? fmt::format("8-bit {}", kind) : fmt::format("{}-bit {}, {}", kBits * bytes, kind, order);
  };
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return numbers(H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned integers" : "signed integers");
    case H5T_FLOAT:
      return numbers("floats");
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? "texts of variable length" : fmt::format("texts of {} bytes", bytes);
    case H5T_COMPOUND:
      return fmt::format("records of {} bytes", bytes);
    default:
      return fmt::format("another type of {} bytes", bytes);
  }
}

std::string shape_text(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) {
    return "no value";
  }
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank <= 0) {
    return "one value";
  }
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return fmt::format("{} values", fmt::join(sizes, " x "));
}

}  // namespace rayreplay::trace::hdf5
