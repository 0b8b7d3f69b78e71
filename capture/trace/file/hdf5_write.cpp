#include "capture/trace/file/hdf5_write.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace rayreplay::trace::hdf5 {
namespace {

// Links of up to this many children stay in the group's header; libhdf5 moves more into a heap.
constexpr unsigned kCompactLinks = 64;

Handle text_type(const std::vector<std::string>& values, const std::string& where) {
  std::size_t longest = 1;
  for (const std::string& value : values) {
    longest = std::max(longest, value.size());
    if (value.find('\0') != std::string::npos) {
      throw Error(ErrorKind::Internal, {"a text holds a zero byte", where, "", "text", ""});
    }
    if (text::invalid_at(value) != text::kAllValid) {
      throw Error(ErrorKind::Internal, {"a text is not UTF-8", where, "'" + value + "'", "UTF-8", ""});
    }
  }
  Handle type(written(H5Tcopy(H5T_C_S1), where));
  written(H5Tset_size(type.get(), longest), where);
  written(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), where);
  written(H5Tset_cset(type.get(), H5T_CSET_UTF8), where);
  return type;
}

std::string padded(const std::vector<std::string>& values, std::size_t size) {
  std::string bytes;
  for (const std::string& value : values) {
    bytes += value;
    bytes.append(size - value.size(), '\0');
  }
  bytes.push_back('\0');  // so that data() is never a pointer to nothing
  return bytes;
}

void write_text_attribute(hid_t object, const char* name, hid_t space, const std::vector<std::string>& values,
                          const std::string& where) {
  const Handle type = text_type(values, where);
  const Handle attribute(written(H5Acreate2(object, name, type.get(), space, H5P_DEFAULT, H5P_DEFAULT), where));
  if (!values.empty()) {
    written(H5Awrite(attribute.get(), type.get(), padded(values, H5Tget_size(type.get())).data()), where);
  }
}

}  // namespace

void throw_not_written(const std::string& where) {
  throw Error(ErrorKind::Output,
              {"cannot write the file", where, last_message(), "", "free space on that disk, or write to another one"});
}

void write_attribute(hid_t object, const char* name, std::uint32_t value, const std::string& where) {
  const Handle space(written(H5Screate(H5S_SCALAR), where));
  const Handle attribute(
      written(H5Acreate2(object, name, H5T_STD_U32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), where));
  written(H5Awrite(attribute.get(), H5T_NATIVE_UINT32, &value), where);
}

void write_attribute(hid_t object, const char* name, std::uint64_t value, const std::string& where) {
  const Handle space(written(H5Screate(H5S_SCALAR), where));
  const Handle attribute(
      written(H5Acreate2(object, name, H5T_STD_U64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), where));
  written(H5Awrite(attribute.get(), H5T_NATIVE_UINT64, &value), where);
}

void write_attribute(hid_t object, const char* name, const std::string& value, const std::string& where) {
  const Handle space(written(H5Screate(H5S_SCALAR), where));
  write_text_attribute(object, name, space.get(), {value}, where);
}

void write_attribute(hid_t object, const char* name, const std::vector<std::string>& values, const std::string& where) {
  const hsize_t count = values.size();
  const Handle space(written(H5Screate_simple(1, &count, nullptr), where));
  write_text_attribute(object, name, space.get(), values, where);
}

void write_texts(hid_t group, const char* name, const std::vector<std::string>& values, const std::string& where) {
  const Handle type = text_type(values, where);
  const hsize_t count = values.size();
  const Handle space(written(H5Screate_simple(1, &count, nullptr), where));
  const Handle properties(written(H5Pcreate(H5P_DATASET_CREATE), where));
  written(H5Pset_obj_track_times(properties.get(), false), where);
  const Handle dataset(
      written(H5Dcreate2(group, name, type.get(), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), where));
  if (!values.empty()) {
    written(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     padded(values, H5Tget_size(type.get())).data()),
            where);
  }
}

Handle create_group(hid_t parent, const char* name, const std::string& where) {
  const Handle properties(written(H5Pcreate(H5P_GROUP_CREATE), where));
  written(H5Pset_obj_track_times(properties.get(), false), where);
  written(H5Pset_link_phase_change(properties.get(), kCompactLinks, kCompactLinks / 2), where);
  return Handle(written(H5Gcreate2(parent, name, H5P_DEFAULT, properties.get(), H5P_DEFAULT), where));
}

}  // namespace rayreplay::trace::hdf5
