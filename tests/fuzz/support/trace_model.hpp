// An HDF5 file as plain data: read from a sound trace once, changed, and written anew.
//
// Contract: `read_model` takes every object of a trace with its type, shape, chunks, filters, links and attributes;
// `write_model` writes the model, sound or not, and the trace's user block, unsealed. It writes a new file because
// libhdf5 does not survive every edit of a broken file in place. Objects that libhdf5 refuses to write are left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <hdf5.h>

namespace rayreplay::fuzz {

enum class ObjectKind : std::uint8_t { Group, Dataset, SoftLink, HardLink };

struct Attribute {
  std::string name;
  std::shared_ptr<const hid_t> type;
  std::vector<hsize_t> extent;  ///< empty: a scalar
  std::string data;
};

/// A chunk as it lies in the file, in place of what the filters would have made.
struct StoredChunk {
  std::uint64_t number = 0;  ///< along the first dimension
  std::uint32_t filter_mask = 0;
  std::string data;
};

struct Object {
  ObjectKind kind = ObjectKind::Group;
  std::string path;    ///< "/launch/0/events/kind"
  std::string target;  ///< of a link
  std::shared_ptr<const hid_t> type;
  std::vector<hsize_t> extent;
  std::vector<hsize_t> chunk;  ///< empty: contiguous
  bool shuffle = false, deflate = false, fletcher = false;
  std::string data;  ///< shorter than the extent: the rest is not written; empty: nothing is
  std::vector<StoredChunk> stored;
  std::vector<Attribute> attributes;
};

/// Groups come before their members.
using TraceModel = std::vector<Object>;

[[nodiscard]] std::shared_ptr<const hid_t> shared_type(hid_t type);  ///< takes it over
[[nodiscard]] std::size_t type_bytes(const std::shared_ptr<const hid_t>& type);
/// Elements; at most 2^63.
[[nodiscard]] std::uint64_t elements(const std::vector<hsize_t>& extent);

[[nodiscard]] TraceModel read_model(const std::filesystem::path& path);
void write_model(const TraceModel& model, const std::filesystem::path& path);

}  // namespace rayreplay::fuzz
