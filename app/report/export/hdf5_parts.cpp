#include "app/report/export/hdf5_parts.hpp"

#include <algorithm>
#include <span>

#include "base/text.hpp"

namespace rayreplay::report::hdf5 {
namespace {

using trace::hdf5::Handle;

constexpr hsize_t kChunkRows = 65536;
constexpr unsigned kDeflateLevel = 2;

void write_list(hid_t object, const char* name, std::span<const std::string> given, const Handle& space) {
  std::vector<std::string> values;
  for (const std::string& value : given) {
    values.push_back(text::as_utf8(value));  // HDF5 requires UTF-8, but paths may be any bytes
  }
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

GrowingColumn::GrowingColumn(hid_t group, const char* name, hid_t stored, hid_t native) : native_(native) {
  const hsize_t none = 0;
  const hsize_t unlimited = H5S_UNLIMITED;
  const Handle space(checked(H5Screate_simple(1, &none, &unlimited)));
  const Handle properties(checked(H5Pcreate(H5P_DATASET_CREATE)));
  checked(H5Pset_obj_track_times(properties.get(), false));
  checked(H5Pset_chunk(properties.get(), 1, &kChunkRows));
  checked(H5Pset_shuffle(properties.get()));
  checked(H5Pset_deflate(properties.get(), kDeflateLevel));
  dataset_ = Handle(checked(H5Dcreate2(group, name, stored, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT)));
}

void GrowingColumn::append(const void* values, hsize_t rows, const Place& place) {
  if (rows == 0) {
    return;
  }
  const hsize_t end = rows_ + rows;
  checked(H5Dset_extent(dataset_.get(), &end));
  const Handle file(checked(H5Dget_space(dataset_.get())));
  checked(H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, &rows_, nullptr, &rows, nullptr));
  const Handle memory(checked(H5Screate_simple(1, &rows, nullptr)));
  written(H5Dwrite(dataset_.get(), native_, memory.get(), file.get(), H5P_DEFAULT, values), place);
  rows_ = end;
}

}  // namespace rayreplay::report::hdf5
