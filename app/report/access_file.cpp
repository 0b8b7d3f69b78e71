#include "app/report/access_file.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <hdf5.h>

#include "app/report/hdf5_parts.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"

namespace rayreplay::report {
namespace {

using hdf5::checked;
using hdf5::make_group;
using hdf5::write_number;
using hdf5::write_text;
using hdf5::write_texts;
using trace::hdf5::Handle;
using traversal::Access;

constexpr hsize_t kChunkRows = 65536;
constexpr unsigned kDeflateLevel = 2;

/// Of calls that write to the disk.
template <class Result>
Result written(Result result, const std::string& path) {
  if (result < 0) {
    throw Error(ErrorKind::Output, {"cannot write the file of accesses", path, trace::hdf5::last_message(), "", ""});
  }
  return result;
}

/// A dataset that grows.
class GrowingColumn {
 public:
  GrowingColumn(hid_t group, const char* name, hid_t stored, hid_t native) : native_(native) {
    const hsize_t none = 0;
    const hsize_t unlimited = H5S_UNLIMITED;
    const Handle space(checked(H5Screate_simple(1, &none, &unlimited)));
    const Handle properties(checked(H5Pcreate(H5P_DATASET_CREATE)));
    checked(H5Pset_obj_track_times(properties.get(), false));
    checked(H5Pset_chunk(properties.get(), 1, &kChunkRows));
    checked(H5Pset_shuffle(properties.get()));
    checked(H5Pset_deflate(properties.get(), kDeflateLevel));
    dataset_ =
        Handle(checked(H5Dcreate2(group, name, stored, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT)));
  }

  void append(const void* values, hsize_t rows, const std::string& path) {
    if (rows == 0) {
      return;
    }
    const hsize_t end = rows_ + rows;
    checked(H5Dset_extent(dataset_.get(), &end));
    const Handle file(checked(H5Dget_space(dataset_.get())));
    checked(H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, &rows_, nullptr, &rows, nullptr));
    const Handle memory(checked(H5Screate_simple(1, &rows, nullptr)));
    written(H5Dwrite(dataset_.get(), native_, memory.get(), file.get(), H5P_DEFAULT, values), path);
    rows_ = end;
  }

 private:
  Handle dataset_;
  hid_t native_;
  hsize_t rows_ = 0;
};

struct Columns {
  explicit Columns(hid_t group)
      : ray(group, "ray", H5T_STD_U64LE, H5T_NATIVE_UINT64),
        offset(group, "offset", H5T_STD_U64LE, H5T_NATIVE_UINT64),
        address(group, "address", H5T_STD_U64LE, H5T_NATIVE_UINT64),
        bytes(group, "bytes", H5T_STD_U32LE, H5T_NATIVE_UINT32),
        kind(group, "kind", H5T_STD_U8LE, H5T_NATIVE_UINT8) {
    const std::uint64_t first = 0;
    offset.append(&first, 1, {});
  }
  GrowingColumn ray, offset, address, bytes, kind;
  std::uint64_t accesses = 0;
};

}  // namespace

struct AccessFile::State {
  State(const std::string& path, bool force) : output(path, force) {}

  OutputFile output;
  Handle file;
  std::vector<Handle> groups;
  std::vector<std::unique_ptr<Columns>> columns;
};

AccessFile::AccessFile(const std::string& path, bool force, const trace::Trace& trace, std::uint32_t launch,
                       const std::vector<std::string>& traversals)
    : state_(std::make_unique<State>(path, force)) {
  const trace::hdf5::QuietScope quiet;
  state_->file = Handle(
      written(H5Fcreate(state_->output.temporary_path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path));
  const hid_t root = state_->file.get();
  write_text(root, "schema", "rayreplay.accesses/1");
  write_text(root, "tool_version", RAYREPLAY_VERSION);
  write_text(root, "trace_hash", trace.hash);
  write_texts(root, "kinds", {"node", "index", "vertex", "instance", "box"});
  write_number(root, "launch", launch);
  for (std::size_t i = 0; i < traversals.size(); ++i) {
    state_->groups.push_back(make_group(root, std::to_string(i).c_str()));
    write_text(state_->groups.back().get(), "traversal", traversals[i]);
    state_->columns.push_back(std::make_unique<Columns>(state_->groups.back().get()));
  }
}

AccessFile::~AccessFile() = default;

void AccessFile::append(std::size_t traversal, std::span<const std::uint64_t> ray,
                        const traversal::RayRows<Access>& accesses) {
  const trace::hdf5::QuietScope quiet;
  const std::string path = state_->output.path().string();
  Columns& columns = *state_->columns[traversal];
  columns.ray.append(ray.data(), ray.size(), path);
  std::vector<std::uint64_t> numbers;
  numbers.reserve(std::max(accesses.rows.size(), ray.size()));
  std::transform(accesses.offset.begin() + 1, accesses.offset.end(), std::back_inserter(numbers),
                 [&](std::uint64_t end) { return columns.accesses + end; });
  columns.offset.append(numbers.data(), numbers.size(), path);
  numbers.clear();
  std::ranges::transform(accesses.rows, std::back_inserter(numbers), &Access::address);
  columns.address.append(numbers.data(), numbers.size(), path);
  std::vector<std::uint32_t> bytes;
  std::ranges::transform(accesses.rows, std::back_inserter(bytes), &Access::bytes);
  columns.bytes.append(bytes.data(), bytes.size(), path);
  std::vector<std::uint8_t> kinds;
  std::ranges::transform(accesses.rows, std::back_inserter(kinds),
                         [](const Access& access) { return static_cast<std::uint8_t>(access.kind); });
  columns.kind.append(kinds.data(), kinds.size(), path);
  columns.accesses += accesses.rows.size();
}

void AccessFile::commit() {
  const trace::hdf5::QuietScope quiet;
  state_->columns.clear();
  state_->groups.clear();
  const std::string path = state_->output.path().string();
  written(H5Fflush(state_->file.get(), H5F_SCOPE_GLOBAL), path);
  written(state_->file.close() ? 0 : -1, path);
  state_->output.commit();
}

}  // namespace rayreplay::report
