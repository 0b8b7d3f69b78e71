#include "scheduler-models/swizzle_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>

#include "base/error.hpp"
#include "base/output_file.hpp"

namespace rayreplay::scheduler {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDataset = "swizzle";
constexpr std::string_view kHdf5Signature("\x89HDF\r\n\x1a\n", 8);
constexpr std::size_t kEntryBytes = 4;
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

/// An HDF5 identifier and the function that closes its kind.
class Handle {
 public:
  Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  ~Handle() {
    if (id_ >= 0) {
      close_(id_);
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] bool valid() const {
    return id_ >= 0;
  }
  [[nodiscard]] hid_t get() const {
    return id_;
  }
  /// Closes now and says whether that worked, because closing is when HDF5 writes.
  [[nodiscard]] bool close() {
    return close_(std::exchange(id_, -1)) >= 0;
  }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// HDF5 prints its error stack by itself unless told not to; libraries never print.
class QuietHdf5 {
 public:
  QuietHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietHdf5() {
    H5Eset_auto2(H5E_DEFAULT, function_, data_);
  }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

[[noreturn]] void bad_file(const fs::path& path, std::string what, std::string found, std::string expected,
                           std::string fix = "") {
  throw Error(ErrorKind::Input,
              {std::move(what), path.string(), std::move(found), std::move(expected), std::move(fix)});
}

std::string size_text(std::uint64_t width, std::uint64_t height, std::uint64_t depth) {
  return fmt::format("{}x{}x{}", width, height, depth);
}

bool write_attribute(hid_t object, const char* name, std::uint32_t value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(object, name, H5T_STD_U32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute.get(), H5T_NATIVE_UINT32, &value) >= 0;
}

bool write_attribute(hid_t object, const char* name, const std::string& value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  if (H5Tset_size(type.get(), H5T_VARIABLE) < 0 || H5Tset_cset(type.get(), H5T_CSET_UTF8) < 0) {
    return false;
  }
  const Handle attribute(H5Acreate2(object, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const char* const text = value.c_str();
  return attribute.valid() && H5Awrite(attribute.get(), type.get(), &text) >= 0;
}

bool write_hdf5(const fs::path& path, const Swizzle& swizzle, trace::LaunchSize size, const std::string& packing,
                const std::string& trace_hash) {
  const QuietHdf5 quiet;
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) {
    return false;
  }
  bool good = false;
  {
    const hsize_t rows = swizzle.size();
    const Handle space(H5Screate_simple(1, &rows, nullptr), H5Sclose);
    const Handle dataset(
        H5Dcreate2(file.get(), kDataset, H5T_STD_U32LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
    good = dataset.valid() &&
           H5Dwrite(dataset.get(), H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, swizzle.data()) >= 0 &&
           write_attribute(dataset.get(), "width", size.width) &&
           write_attribute(dataset.get(), "height", size.height) &&
           write_attribute(dataset.get(), "depth", size.depth) && write_attribute(dataset.get(), "packing", packing) &&
           write_attribute(dataset.get(), "trace_hash", trace_hash);
  }
  return file.close() && good;
}

/// Nothing when the dataset lacks the attribute, as a user's own file may.
bool read_attribute(hid_t object, const char* name, std::uint32_t& value) {
  if (H5Aexists(object, name) <= 0) {
    return false;
  }
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Aread(attribute.get(), H5T_NATIVE_UINT32, &value) >= 0;
}

Swizzle read_hdf5(const fs::path& path, trace::LaunchSize size) {
  const QuietHdf5 quiet;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) {
    bad_file(path, "the HDF5 file cannot be opened", "", "a whole HDF5 file", "write the swizzle again");
  }
  const Handle dataset(H5Dopen2(file.get(), kDataset, H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) {
    bad_file(path, "the file holds no swizzle", "no dataset /swizzle", "dataset /swizzle of 32-bit unsigned integers");
  }
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  if (H5Tget_class(type.get()) != H5T_INTEGER || H5Tget_size(type.get()) != kEntryBytes ||
      H5Tget_sign(type.get()) != H5T_SGN_NONE) {
    bad_file(path, "dataset /swizzle has the wrong type", fmt::format("{} bytes a row", H5Tget_size(type.get())),
             "32-bit unsigned integers", "with numpy: astype('uint32')");
  }
  trace::LaunchSize made_for = size;
  const bool sized = read_attribute(dataset.get(), "width", made_for.width) &&
                     read_attribute(dataset.get(), "height", made_for.height) &&
                     read_attribute(dataset.get(), "depth", made_for.depth);
  if (sized && made_for != size) {
    bad_file(path, "the swizzle was made for another launch size",
             size_text(made_for.width, made_for.height, made_for.depth),
             size_text(size.width, size.height, size.depth));
  }
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  hsize_t rows = 0;
  if (H5Sget_simple_extent_ndims(space.get()) != 1 || H5Sget_simple_extent_dims(space.get(), &rows, nullptr) != 1 ||
      rows != size.threads()) {
    bad_file(path, "dataset /swizzle has the wrong size", fmt::format("{} rows", rows),
             fmt::format("one dimension of {} rows, one per thread", size.threads()));
  }
  Swizzle swizzle(rows);
  if (H5Dread(dataset.get(), H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, swizzle.data()) < 0) {
    bad_file(path, "dataset /swizzle cannot be read", "", fmt::format("{} rows", rows), "write the swizzle again");
  }
  return swizzle;
}

Swizzle read_flat(std::ifstream& file, const fs::path& path, trace::LaunchSize size) {
  file.seekg(0, std::ios::end);
  const auto bytes = static_cast<std::uint64_t>(file.tellg());
  if (bytes != size.threads() * kEntryBytes) {
    bad_file(path, "the swizzle has the wrong size", fmt::format("{} bytes", bytes),
             fmt::format("{} bytes: 4 for each thread of {}", size.threads() * kEntryBytes,
                         size_text(size.width, size.height, size.depth)),
             "a flat swizzle file is little-endian 32-bit unsigned integers, one per thread, and nothing else");
  }
  file.seekg(0);
  Swizzle swizzle;
  swizzle.reserve(size.threads());
  std::string buffer(kBufferBytes, '\0');
  while (swizzle.size() < size.threads()) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    if (got == 0) {
      bad_file(path, "the swizzle cannot be read", fmt::format("{} rows", swizzle.size()),
               fmt::format("{} rows", size.threads()));
    }
    for (std::size_t at = 0; at + kEntryBytes <= got; at += kEntryBytes) {
      std::uint32_t value = 0;
      for (std::size_t i = 0; i < kEntryBytes; ++i) {
        value |= std::uint32_t{static_cast<unsigned char>(buffer[at + i])} << (8 * i);
      }
      swizzle.push_back(value);
    }
  }
  return swizzle;
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
  OutputFile output(path, overwrite);
  if (!write_hdf5(output.temporary_path(), swizzle, size, packing, trace_hash)) {
    throw Error(ErrorKind::Output, {"cannot write the swizzle", path.string(), "HDF5 reports a failed write", "",
                                    "check that the disk has room and that you may write there"});
  }
  output.commit();
}

Swizzle read_swizzle(const fs::path& path, trace::LaunchSize size) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    bad_file(path, "the swizzle is a folder", "", "a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    bad_file(path, "cannot open the swizzle", std::strerror(errno), "");
  }
  std::array<char, kHdf5Signature.size()> start{};
  file.read(start.data(), start.size());
  const bool is_hdf5 = std::string_view(start.data(), static_cast<std::size_t>(file.gcount())) == kHdf5Signature;
  file.clear();
  Swizzle swizzle = is_hdf5 ? read_hdf5(path, size) : read_flat(file, path, size);
  check_bijection(swizzle, size.threads(), is_hdf5 ? path.string() + ":/swizzle" : path.string());
  return swizzle;
}

}  // namespace rayreplay::scheduler
