#include "capture/trace/file/hdf5_handle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace rayreplay::trace::hdf5 {

Handle::~Handle() {
  close();
}

Handle::Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    close();
    id_ = std::exchange(other.id_, H5I_INVALID_HID);
  }
  return *this;
}

bool Handle::close() noexcept {
  if (id_ < 0) {
    return true;
  }
  // Handles are closed by destructors, in whatever thread and scope; libhdf5 keeps its setting by thread.
  const QuietScope quiet;
  return H5Idec_ref(std::exchange(id_, H5I_INVALID_HID)) >= 0;
}

QuietScope::QuietScope() {
  // After a file with damaged metadata libhdf5 1.10 cannot tidy up when the process ends: it prints, or crashes. We
  // close all that we open, so it need not try. Too late, and harmless, in a process that has used libhdf5 before.
  static const herr_t once = H5dont_atexit();
  static_cast<void>(once);
  H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietScope::~QuietScope() {
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, function_, data_);
}

std::string last_message() {
  std::string text;
  const auto take_innermost = [](unsigned index, const H5E_error2_t* error, void* data) -> herr_t {
    if (index == 0 && error->desc != nullptr) {
      *static_cast<std::string*>(data) = error->desc;
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &text);
  H5Eclear2(H5E_DEFAULT);
  // What comes from a damaged file may hold anything: keep messages to one printable line.
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return text;
}

namespace {

haddr_t measure_chunk_address_bias(hsize_t user_block) {
  constexpr std::size_t kBytes = 4096;
  std::array<unsigned char, kBytes> pattern{};
  for (std::size_t i = 0; i < kBytes; ++i) {
    pattern.at(i) = static_cast<unsigned char>(i * 7 + i / 256 + 1);
  }
  const hsize_t rows = kBytes;
  const hsize_t start = 0;
  const Handle create(H5Pcreate(H5P_FILE_CREATE));
  const Handle access(H5Pcreate(H5P_FILE_ACCESS));
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE));
  const Handle space(H5Screate_simple(1, &rows, nullptr));
  H5Pset_userblock(create.get(), user_block);
  H5Pset_fapl_core(access.get(), kBytes, false);
  H5Pset_chunk(layout.get(), 1, &rows);
  const Handle file(H5Fcreate("rayreplay-probe", H5F_ACC_TRUNC, create.get(), access.get()));
  const Handle dataset(H5Dcreate2(file.get(), "d", H5T_STD_U8LE, space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT));
  hsize_t offset = 0;
  unsigned mask = 0;
  haddr_t address = 0;
  hsize_t bytes = 0;
  void* image = nullptr;
  const bool written = H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, &start, kBytes, pattern.data()) >= 0 &&
                       H5Fflush(file.get(), H5F_SCOPE_GLOBAL) >= 0 &&
                       H5Dget_chunk_info(dataset.get(), space.get(), 0, &offset, &mask, &address, &bytes) >= 0 &&
                       H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &image) >= 0;
  if (written) {
    const auto* bytes_of_file = *static_cast<const unsigned char**>(image);
    for (const haddr_t bias : {haddr_t{0}, haddr_t{user_block}}) {
      if (std::memcmp(bytes_of_file + address + bias, pattern.data(), kBytes - user_block) == 0) {
        return bias;
      }
    }
  }
  throw Error(ErrorKind::Internal, {"libhdf5 does not report chunk addresses in a known way", "", last_message(),
                                    "libhdf5 1.10.7 or later", ""});
}

}  // namespace

haddr_t chunk_address_bias(hsize_t user_block) {
  if (user_block == 0) {
    return 0;
  }
  static const haddr_t bias = measure_chunk_address_bias(user_block);
  return bias;
}

}  // namespace rayreplay::trace::hdf5
