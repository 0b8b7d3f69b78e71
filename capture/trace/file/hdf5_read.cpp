#include "capture/trace/file/hdf5_read.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "capture/trace/file/envelope.hpp"
#include "capture/trace/file/hdf5_type.hpp"

namespace rayreplay::trace {
namespace {

using hdf5::Handle;

constexpr const char* kTraceFix = "make the trace again; if your own program wrote it, see docs/trace-format.md";

/// Size of one text, 0 if the type is not fixed-length text.
std::size_t text_size(hid_t type) {
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) {
    return 0;
  }
  return H5Tget_size(type);
}

/// Elements of a scalar (1) or a list; -1 for anything else.
hssize_t list_size(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  return rank == 0 || rank == 1 ? H5Sget_simple_extent_npoints(space) : -1;
}

std::string found_in(hid_t type, hid_t space) {
  return fmt::format("{}: {}", hdf5::shape_text(space), hdf5::type_text(type));
}

}  // namespace

SourceFile::SourceFile(const FileDescriptor& bytes, const std::filesystem::path& path)
    : SourceFile(bytes, path, {kEnvelopeBytes, kTraceFix}) {}

SourceFile::SourceFile(const FileDescriptor& bytes, const std::filesystem::path& path, SourceKind kind)
    : bytes_(bytes), name_(path.string()), kind_(std::move(kind)) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  // We only read, and some network file systems have no locks.
  H5Pset_file_locking(access.get(), false, true);
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file_) {
    fail("", "libhdf5 cannot open the " + bytes_.noun(), hdf5::last_message());
  }
  const Handle creation(H5Fget_create_plist(file_.get()));
  hsize_t user_block = 0;
  if (H5Pget_userblock(creation.get(), &user_block) < 0 || user_block != kind_.user_block) {
    fail("", "the HDF5 data do not start where they should", fmt::format("byte {}", user_block),
         fmt::format("byte {}", kind_.user_block));
  }
}

void SourceFile::fail(const std::string& where, const std::string& what, const std::string& found,
                      const std::string& expected) const {
  throw Error(ErrorKind::Input, {what, where.empty() ? name_ : name_ + ":" + where, found, expected, kind_.fix});
}

std::vector<std::string> SourceFile::split(const std::string& bytes, std::size_t size, const std::string& where) const {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    std::string value = bytes.substr(at, size);
    value.resize(value.find_last_not_of('\0') + 1);
    if (value.find('\0') != std::string::npos) {
      fail(where, "a text holds a zero byte", fmt::format("text {}", result.size()), "zero bytes behind the text only");
    }
    if (const std::size_t invalid = text::invalid_at(value); invalid != text::kAllValid) {
      fail(fmt::format("{}[{}]", where, result.size()), "the text is not UTF-8",
           fmt::format("the byte 0x{:02x} at byte {}", static_cast<unsigned char>(value[invalid]), invalid), "UTF-8");
    }
    result.push_back(std::move(value));
  }
  return result;
}

bool SourceFile::has(hid_t parent, const char* name, const std::string& where) const {
  const htri_t exists = H5Lexists(parent, name, H5P_DEFAULT);
  if (exists < 0) {
    fail(where, "libhdf5 cannot look this up", hdf5::last_message());
  }
  if (exists == 0) {
    return false;
  }
  H5L_info_t info{};
  if (H5Lget_info(parent, name, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD) {
    fail(where, "this is a link to somewhere else", "", "the object itself");
  }
  return true;
}

std::uint64_t SourceFile::children(hid_t group, const std::string& where) const {
  H5G_info_t info{};
  if (H5Gget_info(group, &info) < 0) {
    fail(where, "libhdf5 cannot read the group", hdf5::last_message());
  }
  return info.nlinks;
}

Handle SourceFile::group(hid_t parent, const char* name, const std::string& where) const {
  if (!has(parent, name, where)) {
    fail(where, "the group is missing");
  }
  Handle result(H5Gopen2(parent, name, H5P_DEFAULT));
  if (!result) {
    fail(where, "this is not a sound group", hdf5::last_message());
  }
  return result;
}

Handle SourceFile::dataset(hid_t parent, const char* name, const std::string& where) const {
  if (!has(parent, name, where)) {
    fail(where, "the dataset is missing");
  }
  Handle result(H5Dopen2(parent, name, H5P_DEFAULT));
  if (!result) {
    fail(where, "this is not a sound dataset", hdf5::last_message());
  }
  const Handle properties(H5Dget_create_plist(result.get()));
  if (H5Pget_layout(properties.get()) == H5D_VIRTUAL || H5Pget_external_count(properties.get()) != 0) {
    fail(where, "the dataset keeps its data in other files", "", "the data themselves");
  }
  return result;
}

std::uint32_t SourceFile::number_attribute(hid_t object, const char* name, const std::string& where) const {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT));
  if (!attribute) {
    fail(where, fmt::format("the attribute '{}' is missing or damaged", name), hdf5::last_message());
  }
  const Handle type(H5Aget_type(attribute.get()));
  const Handle space(H5Aget_space(attribute.get()));
  if (H5Tequal(type.get(), H5T_STD_U32LE) <= 0 || list_size(space.get()) != 1) {
    fail(where, fmt::format("the attribute '{}' has another type", name), found_in(type.get(), space.get()), "one u32");
  }
  std::uint32_t value = 0;
  if (H5Aread(attribute.get(), H5T_NATIVE_UINT32, &value) < 0) {
    fail(where, fmt::format("the attribute '{}' cannot be read", name), hdf5::last_message());
  }
  return value;
}

std::uint64_t SourceFile::number_attribute_or(hid_t object, const char* name, const std::string& where,
                                              std::uint64_t otherwise) const {
  const htri_t exists = H5Aexists(object, name);
  if (exists == 0) {
    return otherwise;
  }
  const Handle attribute(exists < 0 ? H5I_INVALID_HID : H5Aopen(object, name, H5P_DEFAULT));
  if (!attribute) {
    fail(where, fmt::format("the attribute '{}' is damaged", name), hdf5::last_message());
  }
  const Handle type(H5Aget_type(attribute.get()));
  const Handle space(H5Aget_space(attribute.get()));
  const bool known = H5Tequal(type.get(), H5T_STD_U64LE) > 0 || H5Tequal(type.get(), H5T_STD_U32LE) > 0;
  if (!known || list_size(space.get()) != 1) {
    fail(where, fmt::format("the attribute '{}' has another type", name), found_in(type.get(), space.get()),
         "one u64 or u32");
  }
  std::uint64_t value = 0;
  if (H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value) < 0) {
    fail(where, fmt::format("the attribute '{}' cannot be read", name), hdf5::last_message());
  }
  return value;
}

std::vector<std::string> SourceFile::texts_attribute(hid_t object, const char* name, const std::string& where) const {
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT));
  if (!attribute) {
    fail(where, fmt::format("the attribute '{}' is missing or damaged", name), hdf5::last_message());
  }
  const Handle type(H5Aget_type(attribute.get()));
  const Handle space(H5Aget_space(attribute.get()));
  const std::size_t size = text_size(type.get());
  const hssize_t count = list_size(space.get());
  if (size == 0 || count < 0) {
    fail(where, fmt::format("the attribute '{}' has another type", name), found_in(type.get(), space.get()),
         "text of fixed length");
  }
  if (static_cast<std::uint64_t>(count) > bytes_.size() / size) {
    fail(where, fmt::format("the attribute '{}' claims more than the file holds", name));
  }
  std::string bytes(static_cast<std::size_t>(count) * size, '\0');
  if (count > 0 && H5Aread(attribute.get(), type.get(), bytes.data()) < 0) {
    fail(where, fmt::format("the attribute '{}' cannot be read", name), hdf5::last_message());
  }
  return split(bytes, size, fmt::format("{}, attribute '{}'", where, name));
}

std::string SourceFile::text_attribute(hid_t object, const char* name, const std::string& where) const {
  std::vector<std::string> texts = texts_attribute(object, name, where);
  if (texts.size() != 1) {
    fail(where, fmt::format("the attribute '{}' has another type", name), fmt::format("{} texts", texts.size()),
         "one text");
  }
  return std::move(texts.front());
}

std::vector<std::string> SourceFile::texts(hid_t parent, const char* name, const std::string& where,
                                           std::uint64_t rows) const {
  const Handle data = dataset(parent, name, where);
  const Handle type(H5Dget_type(data.get()));
  const Handle space(H5Dget_space(data.get()));
  const Handle properties(H5Dget_create_plist(data.get()));
  const std::size_t size = text_size(type.get());
  if (size == 0 || H5Pget_layout(properties.get()) != H5D_CONTIGUOUS) {
    fail(where, "the dataset has another type or layout", "", "text of fixed length, contiguous");
  }
  const hssize_t count = list_size(space.get());
  if (count < 0 || static_cast<std::uint64_t>(count) != rows) {
    fail(where, "the dataset has another number of rows than its table", std::to_string(count), std::to_string(rows));
  }
  if (rows > bytes_.size() / size || H5Dget_storage_size(data.get()) != rows * size) {
    fail(where, "the dataset claims more than the file holds");
  }
  std::string bytes(rows * size, '\0');
  if (rows > 0 && H5Dread(data.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
    fail(where, "the dataset cannot be read", hdf5::last_message());
  }
  return split(bytes, size, where);
}

}  // namespace rayreplay::trace
