#include "capture/trace/file/hdf5_sink.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <unistd.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include "base/error.hpp"
#include "base/write_failure.hpp"

namespace rayreplay::trace::hdf5 {
namespace {

constexpr haddr_t kGreatestAddress = (haddr_t{1} << 62) - 1;

struct SinkInfo {
  Sink* sink = nullptr;
};

/// What libhdf5 knows as an open file; it looks at the first member only.
struct SinkFile {
  H5FD_t base{};
  Sink* sink = nullptr;
  haddr_t end_of_allocation = 0;
  haddr_t end_of_file = 0;
};

SinkFile& of(H5FD_t* file) {
  return *reinterpret_cast<SinkFile*>(file);
}
const SinkFile& of(const H5FD_t* file) {
  return *reinterpret_cast<const SinkFile*>(file);
}

}  // namespace

/// The driver's functions, as libhdf5 calls them.
struct SinkDriver {
  static H5FD_t* open(const char* /*name*/, unsigned /*flags*/, hid_t access, haddr_t /*greatest*/) {
    const auto* info = static_cast<const SinkInfo*>(H5Pget_driver_info(access));
    if (info == nullptr) {
      return nullptr;
    }
    auto file = std::make_unique<SinkFile>();
    file->sink = info->sink;
    return reinterpret_cast<H5FD_t*>(file.release());
  }
  static void fail(Sink& sink, int error) {
    sink.error_ = error;
    sink.discarding_ = true;
  }
  static herr_t close(H5FD_t* file) {
    const std::unique_ptr<SinkFile> owner(&of(file));
    return 0;
  }
  static herr_t query(const H5FD_t* /*file*/, unsigned long* flags) {
    // Flags of libhdf5's default driver: they decide where data lie in the file.
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
  }
  static haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t /*type*/) {
    return of(file).end_of_allocation;
  }
  static herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t address) {
    of(file).end_of_allocation = address;
    return 0;
  }
  static haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) {
    return of(file).end_of_file;
  }
  static herr_t read(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address, std::size_t size,
                     void* buffer) {
    const SinkFile& self = of(file);
    auto* to = static_cast<char*>(buffer);
    while (size > 0) {
      const ssize_t done = ::pread(self.sink->descriptor_, to, size, static_cast<off_t>(address));
      if (done < 0 && errno == EINTR) {
        continue;
      }
      if (done < 0) {
        return -1;
      }
      if (done == 0) {
        std::memset(to, 0, size);  // behind the end
        return 0;
      }
      to += done;
      address += static_cast<haddr_t>(done);
      size -= static_cast<std::size_t>(done);
    }
    return 0;
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address, std::size_t size,
                      const void* buffer) {
    SinkFile& self = of(file);
    const auto* from = static_cast<const char*>(buffer);
    while (size > 0 && !self.sink->discarding_) {
      const ssize_t done = ::pwrite(self.sink->descriptor_, from, size, static_cast<off_t>(address));
      if (done < 0 && errno == EINTR) {
        continue;
      }
      if (done <= 0) {
        fail(*self.sink, errno);
        break;
      }
      from += done;
      address += static_cast<haddr_t>(done);
      size -= static_cast<std::size_t>(done);
    }
    self.end_of_file = std::max(self.end_of_file, address + size);
    start_writing_out(*self.sink, address);
    return 0;
  }
  /// Sends what has piled up to the disk meanwhile, so that finishing does not wait for all of it at once. Advice only.
  static void start_writing_out(Sink& sink, haddr_t end) {
    constexpr haddr_t kBytesAtOnce = haddr_t{8} << 20;
    if (!sink.discarding_ && end >= sink.on_its_way_ + kBytesAtOnce) {
      ::sync_file_range(sink.descriptor_, static_cast<off_t>(sink.on_its_way_),
                        static_cast<off_t>(end - sink.on_its_way_), SYNC_FILE_RANGE_WRITE);
      sink.on_its_way_ = end;
    }
  }
  static herr_t truncate(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
    SinkFile& self = of(file);
    if (self.end_of_allocation != self.end_of_file && !self.sink->discarding_ &&
        ::ftruncate(self.sink->descriptor_, static_cast<off_t>(self.end_of_allocation)) != 0) {
      fail(*self.sink, errno);
    }
    self.end_of_file = self.end_of_allocation;
    return 0;
  }

  static hid_t id() {
    static const H5FD_class_t driver = [] {
      H5FD_class_t d{};
#ifdef H5FD_CLASS_VERSION
      d.version = H5FD_CLASS_VERSION;
      d.value = static_cast<H5FD_class_value_t>(300);  // of the range for drivers that nobody else opens files with
#endif
      d.name = "rayreplay_sink";
      d.maxaddr = kGreatestAddress;
      d.fc_degree = H5F_CLOSE_STRONG;
      d.fapl_size = sizeof(SinkInfo);
      d.open = open;
      d.close = close;
      d.query = query;
      d.get_eoa = get_end_of_allocation;
      d.set_eoa = set_end_of_allocation;
      d.get_eof = get_end_of_file;
      d.read = read;
      d.write = write;
      d.truncate = truncate;
      const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
      std::copy(std::begin(map), std::end(map), std::begin(d.fl_map));
      return d;
    }();
    static const hid_t registered = H5FDregister(&driver);
    return registered;
  }
};

void Sink::use_in(hid_t access) {
  const SinkInfo info{this};
  if (SinkDriver::id() < 0 || H5Pset_driver(access, SinkDriver::id(), &info) < 0) {
    throw Error(ErrorKind::Internal, {"libhdf5 does not take our driver", "", last_message(), "", ""});
  }
}

std::string Sink::failure() const {
  return error_ == 0 ? "" : std::strerror(error_);
}

std::string Sink::fix() const {
  return fix_of_write_failure(error_);
}

}  // namespace rayreplay::trace::hdf5
