#include "app/report/hdf5_parts.hpp"

#include <algorithm>
#include <span>

namespace rayreplay::report::hdf5 {
namespace {

using trace::hdf5::Handle;

void write_list(hid_t object, const char* name, std::span<const std::string> values, const Handle& space) {
  std::size_t longest = 1;
  for (const std::string& value : values) {
    longest = std::max(longest, value.size());
  }
  std::string bytes;
  for (const std::string& value : values) {
    bytes += value;
    bytes.append(longest - value.size(), '\0');
  }
  const Handle type(checked(H5Tcopy(H5T_C_S1)));
  checked(H5Tset_size(type.get(), longest));
  checked(H5Tset_strpad(type.get(), H5T_STR_NULLPAD));
  checked(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  const Handle attribute(checked(H5Acreate2(object, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT)));
  checked(H5Awrite(attribute.get(), type.get(), bytes.data()));
}

}  // namespace

void write_text(hid_t object, const char* name, const std::string& value) {
  write_list(object, name, {&value, 1}, Handle(checked(H5Screate(H5S_SCALAR))));
}

void write_texts(hid_t object, const char* name, const std::vector<std::string>& values) {
  const hsize_t count = values.size();
  write_list(object, name, values, Handle(checked(H5Screate_simple(1, &count, nullptr))));
}

void write_number(hid_t object, const char* name, std::uint32_t value) {
  const Handle space(checked(H5Screate(H5S_SCALAR)));
  const Handle attribute(checked(H5Acreate2(object, name, H5T_STD_U32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT)));
  checked(H5Awrite(attribute.get(), H5T_NATIVE_UINT32, &value));
}

Handle make_group(hid_t parent, const char* name) {
  const Handle properties(checked(H5Pcreate(H5P_GROUP_CREATE)));
  checked(H5Pset_obj_track_times(properties.get(), false));
  return Handle(checked(H5Gcreate2(parent, name, H5P_DEFAULT, properties.get(), H5P_DEFAULT)));
}

}  // namespace rayreplay::report::hdf5
