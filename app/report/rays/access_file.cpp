#include "app/report/rays/access_file.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <hdf5.h>

#include "app/report/export/hdf5_parts.hpp"
#include "base/error.hpp"
#include "capture/trace/file/hdf5_output.hpp"

namespace rayreplay::report {
namespace {

using hdf5::checked;
using hdf5::GrowingColumn;
using hdf5::make_group;
using hdf5::write_number;
using hdf5::write_text;
using hdf5::write_texts;
using hdf5::written;
using trace::hdf5::Handle;
using traversal::Access;

hdf5::Place place(const std::string& path) {
  return {"the file of accesses", path};
}

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
  State(const std::string& path, bool force) : file(path, force, "the file of accesses") {}

  trace::hdf5::OutputHdf5 file;
  std::vector<Handle> groups;
  std::vector<std::unique_ptr<Columns>> columns;
};

AccessFile::AccessFile(const std::string& path, bool force, const trace::Trace& trace, std::uint32_t launch,
                       const std::vector<std::string>& traversals)
    : state_(std::make_unique<State>(path, force)) {
  const trace::hdf5::QuietScope quiet;
  const hid_t root = state_->file.root();
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
  const hdf5::Place path = place(state_->file.path().string());
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
  state_->file.require_written();
}

void AccessFile::commit() {
  const trace::hdf5::QuietScope quiet;
  state_->columns.clear();
  state_->groups.clear();
  state_->file.commit();
}

}  // namespace rayreplay::report
