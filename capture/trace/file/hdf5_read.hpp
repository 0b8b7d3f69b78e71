// An untrusted HDF5 file: groups, attributes and texts, each checked before use. For this room and for readers of other
// HDF5 files; link libhdf5 yourself.
//
// Contract: everything throws Input with the file's and the object's name. Only hard links are followed, so that a file
// cannot make us open another one; nor may a dataset keep its data elsewhere. Texts are UTF-8. Reads through
// libhdf5 are no longer than the file itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/trace/file/file_descriptor.hpp"
#include "capture/trace/file/hdf5_handle.hpp"

namespace rayreplay::trace {

struct SourceKind {
  std::uint64_t user_block = 0;  ///< bytes before the HDF5 data
  std::string fix;               ///< how to get a better file
};

class SourceFile {
 public:
  /// Opens a trace with libhdf5; the envelope has been looked at before.
  SourceFile(const FileDescriptor& bytes, const std::filesystem::path& path);
  /// Opens another kind of file.
  SourceFile(const FileDescriptor& bytes, const std::filesystem::path& path, SourceKind kind);

  [[nodiscard]] const FileDescriptor& bytes() const {
    return bytes_;
  }
  [[nodiscard]] const std::string& name() const {
    return name_;
  }
  [[nodiscard]] std::uint64_t user_block() const {
    return kind_.user_block;
  }
  [[nodiscard]] hid_t root() const {
    return file_.get();
  }

  /// Throws Input at dataset or group `where`.
  [[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& found = "",
                         const std::string& expected = "") const;

  /// Whether `parent` has a child of this name; other links than hard ones are faults.
  [[nodiscard]] bool has(hid_t parent, const char* name, const std::string& where) const;
  [[nodiscard]] std::uint64_t children(hid_t group, const std::string& where) const;
  [[nodiscard]] hdf5::Handle group(hid_t parent, const char* name, const std::string& where) const;
  /// A dataset whose data lie in this file: neither in external files nor, as a virtual dataset, in others.
  [[nodiscard]] hdf5::Handle dataset(hid_t parent, const char* name, const std::string& where) const;

  [[nodiscard]] std::uint32_t number_attribute(hid_t object, const char* name, const std::string& where) const;
  /// As `number_attribute`, of type u64 or u32; `otherwise` if the object has no such attribute.
  [[nodiscard]] std::uint64_t number_attribute_or(hid_t object, const char* name, const std::string& where,
                                                  std::uint64_t otherwise) const;
  [[nodiscard]] std::string text_attribute(hid_t object, const char* name, const std::string& where) const;
  [[nodiscard]] std::vector<std::string> texts_attribute(hid_t object, const char* name,
                                                         const std::string& where) const;
  [[nodiscard]] std::vector<std::string> texts(hid_t parent, const char* name, const std::string& where,
                                               std::uint64_t rows) const;

 private:
  /// Splits the result of H5Aread or H5Dread into texts without their padding. Other zero bytes, which writers could
  /// not keep, and bytes that are not UTF-8, which JSON cannot hold, are refused.
  [[nodiscard]] std::vector<std::string> split(const std::string& bytes, std::size_t size,
                                               const std::string& where) const;

  hdf5::QuietScope quiet_;
  const FileDescriptor& bytes_;
  std::string name_;
  SourceKind kind_;
  hdf5::Handle file_;
};

}  // namespace rayreplay::trace
