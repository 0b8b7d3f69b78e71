#include "scheduler-models/swizzle_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <hdf5.h>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "capture/trace/file/file_descriptor.hpp"
#include "capture/trace/file/hdf5_handle.hpp"
#include "capture/trace/file/hdf5_output.hpp"
#include "capture/trace/file/hdf5_read.hpp"
#include "capture/trace/file/hdf5_write.hpp"
#include "capture/trace/file/storage.hpp"
#include "capture/trace/reading/column_loader.hpp"

namespace rayreplay::scheduler {
namespace {

namespace fs = std::filesystem;
using trace::hdf5::Handle;
using trace::hdf5::QuietScope;
using trace::hdf5::write_attribute;
using trace::hdf5::written;

constexpr const char* kDataset = "swizzle";
constexpr const char* kWhere = "/swizzle";
constexpr const char* kAdvice = "write the swizzle again; with numpy: astype('uint32')";
constexpr std::string_view kHdf5Signature("\x89HDF\r\n\x1a\n", 8);
constexpr std::size_t kEntryBytes = 4;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

std::string size_text(std::uint64_t width, std::uint64_t height, std::uint64_t depth) {
  return fmt::format("{}x{}x{}", width, height, depth);
}

/// Variable-length text, which numpy and h5py show as text.
void write_text_attribute(hid_t object, const char* name, const std::string& value, const std::string& where) {
  const Handle space(written(H5Screate(H5S_SCALAR), where));
  const Handle type(written(H5Tcopy(H5T_C_S1), where));
  written(H5Tset_size(type.get(), H5T_VARIABLE), where);
  written(H5Tset_cset(type.get(), H5T_CSET_UTF8), where);
  const Handle attribute(written(H5Acreate2(object, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), where));
  const char* const text = value.c_str();
  written(H5Awrite(attribute.get(), type.get(), &text), where);
}

void write_hdf5(trace::hdf5::OutputHdf5& file, const Swizzle& swizzle, trace::LaunchSize size,
                const std::string& packing, const std::string& trace_hash) {
  const QuietScope quiet;
  const std::string where = file.path().string();
  {
    const hsize_t rows = swizzle.size();
    const Handle space(written(H5Screate_simple(1, &rows, nullptr), where));
    // No modification time: the same swizzle gives the same bytes.
    const Handle properties(written(H5Pcreate(H5P_DATASET_CREATE), where));
    written(H5Pset_obj_track_times(properties.get(), false), where);
    const Handle dataset(written(
        H5Dcreate2(file.root(), kDataset, H5T_STD_U32LE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
        where));
    written(H5Dwrite(dataset.get(), H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, swizzle.data()), where);
    write_attribute(dataset.get(), "width", size.width, where);
    write_attribute(dataset.get(), "height", size.height, where);
    write_attribute(dataset.get(), "depth", size.depth, where);
    write_text_attribute(dataset.get(), "packing", packing, where);
    write_text_attribute(dataset.get(), "trace_hash", trace_hash, where);
  }
  file.commit();
}

/// The launch size that the file states; dimensions that a user's file leaves out are taken from `size`.
trace::LaunchSize made_for(const trace::SourceFile& source, hid_t dataset, trace::LaunchSize size) {
  const auto read = [&](const char* name, std::uint32_t& value) {
    const htri_t exists = H5Aexists(dataset, name);
    if (exists < 0) {
      source.fail(kWhere, fmt::format("libhdf5 cannot look for the attribute '{}'", name), trace::hdf5::last_message());
    }
    if (exists > 0) {
      value = source.number_attribute(dataset, name, kWhere);
    }
  };
  read("width", size.width);
  read("height", size.height);
  read("depth", size.depth);
  return size;
}

/// Rows of a contiguous dataset of `rows` u32.
Swizzle read_contiguous(const trace::SourceFile& source, hid_t dataset, std::uint64_t rows) {
  if (rows > source.bytes().size() / kEntryBytes || H5Dget_storage_size(dataset) != rows * kEntryBytes) {
    source.fail(kWhere, "the dataset claims more than the file holds", fmt::format("{} rows", rows),
                fmt::format("rows of {} bytes in a file of {}", kEntryBytes, source.bytes().size()));
  }
  Swizzle swizzle(rows);
  if (H5Dread(dataset, H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, swizzle.data()) < 0) {
    source.fail(kWhere, "the dataset cannot be read", trace::hdf5::last_message());
  }
  return swizzle;
}

/// The same for a chunked dataset, decoded like a trace's columns.
Swizzle read_chunked(const trace::SourceFile& source, std::uint64_t rows) {
  trace::ColumnLoader loader(source);
  trace::Column<std::uint32_t> column;
  loader.column(source.root(), "", trace::column_spec<std::uint32_t>(kDataset, trace::Elision::Forbidden), column,
                rows);
  loader.run(0, rows * kEntryBytes, nullptr);
  return {column.begin(), column.end()};
}

Swizzle read_hdf5(const trace::FileDescriptor& bytes, const fs::path& path, trace::LaunchSize size) {
  const trace::SourceFile source(bytes, path, {0, kAdvice});
  const Handle dataset = source.dataset(source.root(), kDataset, kWhere);
  const Handle type(H5Dget_type(dataset.get()));
  if (H5Tequal(type.get(), H5T_STD_U32LE) <= 0) {
    source.fail(kWhere, "the dataset has another type", fmt::format("{} bytes a row", H5Tget_size(type.get())),
                "32-bit unsigned integers, little-endian");
  }
  if (const trace::LaunchSize other = made_for(source, dataset.get(), size); other != size) {
    source.fail(kWhere, "the swizzle was made for another launch size",
                size_text(other.width, other.height, other.depth), size_text(size.width, size.height, size.depth));
  }
  const Handle space(H5Dget_space(dataset.get()));
  const std::uint64_t threads = size.threads();
  hsize_t rows = 0;
  if (H5Sget_simple_extent_type(space.get()) != H5S_SIMPLE || H5Sget_simple_extent_ndims(space.get()) != 1 ||
      H5Sget_simple_extent_dims(space.get(), &rows, nullptr) != 1 || rows != threads) {
    source.fail(kWhere, "the dataset has the wrong size", fmt::format("{} rows", rows),
                fmt::format("one dimension of {} rows, one per thread", threads));
  }
  const Handle properties(H5Dget_create_plist(dataset.get()));
  switch (H5Pget_layout(properties.get())) {
    case H5D_CONTIGUOUS:
      return read_contiguous(source, dataset.get(), threads);
    case H5D_CHUNKED:
      return read_chunked(source, threads);
    default:
      source.fail(kWhere, "the dataset has another layout", "", "contiguous, or in chunks");
  }
}

Swizzle read_flat(const trace::FileDescriptor& file, const fs::path& path, trace::LaunchSize size) {
  if (file.size() != size.threads() * kEntryBytes) {
    throw Error(ErrorKind::Input,
                {"the swizzle has the wrong size", path.string(), fmt::format("{} bytes", file.size()),
                 fmt::format("{} bytes: 4 for each thread of {}", size.threads() * kEntryBytes,
                             size_text(size.width, size.height, size.depth)),
                 "a flat swizzle file is little-endian 32-bit unsigned integers, one per thread, and nothing else"});
  }
  Swizzle swizzle;
  swizzle.reserve(size.threads());
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kBufferBytes, file.size()));
  for (std::uint64_t position = 0; position < file.size(); position += buffer.size()) {
    buffer.resize(std::min<std::uint64_t>(buffer.size(), file.size() - position));
    file.read(buffer, position);
    for (std::size_t at = 0; at < buffer.size(); at += kEntryBytes) {
      std::uint32_t value = 0;
      for (std::size_t i = 0; i < kEntryBytes; ++i) {
        value |= std::to_integer<std::uint32_t>(buffer[at + i]) << (8 * i);
      }
      swizzle.push_back(value);
    }
  }
  return swizzle;
}

bool holds_hdf5(const trace::FileDescriptor& file) {
  std::array<std::byte, kHdf5Signature.size()> start{};
  if (file.size() < start.size()) {
    return false;
  }
  file.read(start, 0);
  return std::memcmp(start.data(), kHdf5Signature.data(), start.size()) == 0;
}

std::string flat_bytes(const Swizzle& swizzle) {
  std::string bytes(swizzle.size() * kEntryBytes, '\0');
  for (std::size_t row = 0; row < swizzle.size(); ++row) {
    for (std::size_t i = 0; i < kEntryBytes; ++i) {
      bytes[row * kEntryBytes + i] = static_cast<char>(swizzle[row] >> (8 * i) & 0xFFU);
    }
  }
  return bytes;
}

}  // namespace

void write_swizzle(const fs::path& path, const Swizzle& swizzle, trace::LaunchSize size, const std::string& packing,
                   const std::string& trace_hash, bool overwrite) {
  check_bijection(swizzle, size.threads(), "swizzle");
  const std::string ending = path.extension().string();
  if (ending != ".h5" && ending != ".hdf5") {
    write_file(path, flat_bytes(swizzle), overwrite);
    return;
  }
  trace::hdf5::OutputHdf5 output(path, overwrite, "the swizzle");
  write_hdf5(output, swizzle, size, packing, trace_hash);
}

Swizzle read_swizzle(const fs::path& path, trace::LaunchSize size) {
  const trace::FileDescriptor file(path, trace::FileDescriptor::Mode::Read, "swizzle");
  const bool is_hdf5 = holds_hdf5(file);
  Swizzle swizzle = is_hdf5 ? read_hdf5(file, path, size) : read_flat(file, path, size);
  check_bijection(swizzle, size.threads(), is_hdf5 ? path.string() + ":/swizzle" : path.string());
  return swizzle;
}

std::optional<trace::LaunchSize> swizzle_size(const fs::path& path) {
  const trace::FileDescriptor file(path, trace::FileDescriptor::Mode::Read, "swizzle");
  if (!holds_hdf5(file)) {
    return std::nullopt;
  }
  const trace::SourceFile source(file, path, {0, kAdvice});
  const Handle dataset = source.dataset(source.root(), kDataset, kWhere);
  const trace::LaunchSize size = made_for(source, dataset.get(), {0, 0, 0});
  return size.width == 0 || size.height == 0 || size.depth == 0 ? std::nullopt : std::optional(size);
}

}  // namespace rayreplay::scheduler
