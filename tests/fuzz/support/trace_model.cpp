#include "tests/fuzz/support/trace_model.hpp"

#include <algorithm>

#include "capture/trace/file/envelope.hpp"

namespace rayreplay::fuzz {
namespace {

std::vector<hsize_t> extent_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extent(static_cast<std::size_t>(std::max(rank, 0)));
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  return extent;
}

hid_t space_of(const std::vector<hsize_t>& extent) {
  return extent.empty() ? H5Screate(H5S_SCALAR)
                        : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr);
}

std::vector<Attribute> read_attributes(hid_t object) {
  std::vector<Attribute> attributes;
  H5O_info_t info{};
  H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS);
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const hid_t attribute = H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Aget_space(attribute);
    Attribute read;
    read.name.resize(static_cast<std::size_t>(H5Aget_name(attribute, 0, nullptr)));
    H5Aget_name(attribute, read.name.size() + 1, read.name.data());
    read.type = shared_type(H5Aget_type(attribute));
    read.extent = extent_of(space);
    read.data.resize(elements(read.extent) * type_bytes(read.type));
    if (!read.data.empty()) {
      H5Aread(attribute, *read.type, read.data.data());
    }
    H5Sclose(space);
    H5Aclose(attribute);
    attributes.push_back(std::move(read));
  }
  return attributes;
}

void read_dataset(hid_t dataset, Object& object) {
  const hid_t space = H5Dget_space(dataset);
  const hid_t properties = H5Dget_create_plist(dataset);
  object.type = shared_type(H5Dget_type(dataset));
  object.extent = extent_of(space);
  if (H5Pget_layout(properties) == H5D_CHUNKED) {
    object.chunk.resize(object.extent.size());
    H5Pget_chunk(properties, static_cast<int>(object.chunk.size()), object.chunk.data());
    for (int i = 0; i < H5Pget_nfilters(properties); ++i) {
      unsigned flags = 0;
      std::size_t values = 0;
      const H5Z_filter_t filter =
          H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, nullptr);
      object.shuffle |= filter == H5Z_FILTER_SHUFFLE;
      object.deflate |= filter == H5Z_FILTER_DEFLATE;
      object.fletcher |= filter == H5Z_FILTER_FLETCHER32;
    }
  }
  object.data.resize(elements(object.extent) * type_bytes(object.type));
  if (!object.data.empty()) {
    H5Dread(dataset, *object.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, object.data.data());
  }
  H5Pclose(properties);
  H5Sclose(space);
}

void write_attributes(hid_t object, const std::vector<Attribute>& attributes) {
  for (const Attribute& attribute : attributes) {
    const hid_t space = space_of(attribute.extent);
    const hid_t written = H5Acreate2(object, attribute.name.c_str(), *attribute.type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (written >= 0) {
      if (!attribute.data.empty() && attribute.data.size() == elements(attribute.extent) * type_bytes(attribute.type)) {
        H5Awrite(written, *attribute.type, attribute.data.data());
      }
      H5Aclose(written);
    }
    H5Sclose(space);
  }
}

hid_t creation_of(const Object& object) {
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(properties, false);
  if (!object.chunk.empty()) {
    H5Pset_chunk(properties, static_cast<int>(object.chunk.size()), object.chunk.data());
    if (object.shuffle) {
      H5Pset_shuffle(properties);
    }
    if (object.deflate) {
      H5Pset_deflate(properties, 1);
    }
    if (object.fletcher) {
      H5Pset_fletcher32(properties);
    }
  }
  return properties;
}

void write_dataset(hid_t file, const Object& object) {
  const hid_t space = space_of(object.extent);
  const hid_t properties = creation_of(object);
  const hid_t dataset =
      H5Dcreate2(file, object.path.c_str(), *object.type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  if (dataset >= 0) {
    const std::size_t row = object.extent.empty()
                                ? type_bytes(object.type)
                                : type_bytes(object.type) * elements({object.extent.begin() + 1, object.extent.end()});
    const hsize_t rows = row == 0 ? 0 : object.data.size() / row;
    if (rows > 0 && !object.extent.empty() && rows <= object.extent[0]) {
      std::vector<hsize_t> count = object.extent;
      count[0] = rows;
      const std::vector<hsize_t> start(count.size(), 0);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
      const hid_t memory = space_of(count);
      H5Dwrite(dataset, *object.type, memory, space, H5P_DEFAULT, object.data.data());
      H5Sclose(memory);
    }
    for (const StoredChunk& chunk : object.stored) {
      std::vector<hsize_t> offset(object.extent.size() + 1, 0);
      offset[0] = object.chunk.empty() ? 0 : chunk.number * object.chunk[0];
      // libhdf5 1.10 crashes on a chunk for a dataset without elements.
      if (!object.chunk.empty() && !chunk.data.empty() && elements(object.extent) != 0) {
        H5Dwrite_chunk(dataset, H5P_DEFAULT, chunk.filter_mask, offset.data(), chunk.data.size(), chunk.data.data());
      }
    }
    write_attributes(dataset, object.attributes);
    H5Dclose(dataset);
  }
  H5Pclose(properties);
  H5Sclose(space);
}

void write_group(hid_t file, const Object& object) {
  hid_t group = H5I_INVALID_HID;
  if (object.path == "/") {
    group = H5Gopen2(file, "/", H5P_DEFAULT);
  } else {
    const hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(properties, false);
    group = H5Gcreate2(file, object.path.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
  }
  if (group >= 0) {
    write_attributes(group, object.attributes);
    H5Gclose(group);
  }
}

}  // namespace

std::shared_ptr<const hid_t> shared_type(hid_t type) {
  return {new hid_t(type), [](const hid_t* value) {
            H5Tclose(*value);
            delete value;
          }};
}

std::size_t type_bytes(const std::shared_ptr<const hid_t>& type) {
  return H5Tget_size(*type);
}

std::uint64_t elements(const std::vector<hsize_t>& extent) {
  std::uint64_t count = 1;
  for (const hsize_t one : extent) {
    if (one != 0 && count > (std::uint64_t{1} << 63U) / one) {
      return std::uint64_t{1} << 63U;
    }
    count *= one;
  }
  return count;
}

TraceModel read_model(const std::filesystem::path& path) {
  TraceModel model;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  std::vector<std::string> names;
  H5Ovisit2(
      file, H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t, const char* name, const H5O_info_t*, void* list) -> herr_t {
        static_cast<std::vector<std::string>*>(list)->emplace_back(name);
        return 0;
      },
      &names, H5O_INFO_BASIC);
  for (const std::string& name : names) {
    Object object;
    object.path = name == "." ? "/" : "/" + name;
    const hid_t opened = H5Oopen(file, object.path.c_str(), H5P_DEFAULT);
    if (H5Iget_type(opened) == H5I_DATASET) {
      object.kind = ObjectKind::Dataset;
      read_dataset(opened, object);
    }
    object.attributes = read_attributes(opened);
    H5Oclose(opened);
    model.push_back(std::move(object));
  }
  H5Fclose(file);
  return model;
}

void write_model(const TraceModel& model, const std::filesystem::path& path) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_userblock(creation, trace::kEnvelopeBytes);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
  H5Pclose(creation);
  H5Pclose(access);
  for (const Object& object : model) {
    switch (object.kind) {
      case ObjectKind::Group:
        write_group(file, object);
        break;
      case ObjectKind::Dataset:
        write_dataset(file, object);
        break;
      case ObjectKind::SoftLink:
        H5Lcreate_soft(object.target.c_str(), file, object.path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
        break;
      case ObjectKind::HardLink:
        H5Lcreate_hard(file, object.target.c_str(), file, object.path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
        break;
    }
  }
  H5Fclose(file);
}

}  // namespace rayreplay::fuzz
