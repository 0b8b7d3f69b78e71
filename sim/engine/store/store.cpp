#include "sim/engine/store/store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/output_file.hpp"
#include "base/temporary.hpp"
#include "sim/engine/store/result_file.hpp"

namespace rayreplay::experiment {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockName = "store.lock";
constexpr std::uint64_t kRoomParts = 16;    // eviction leaves 1 / kRoomParts of the limit free
constexpr std::uint64_t kUnseenParts = 64;  // after writing 1 / kUnseenParts of the limit, the folder is read again
constexpr std::int64_t kNanoseconds = 1'000'000'000;

bool read_all(int file, char* into, std::size_t count) {
  while (count > 0) {
    const ssize_t done = ::read(file, into, count);
    if (done == 0 || (done < 0 && errno != EINTR)) {
      return false;
    }
    into += done > 0 ? done : 0;
    count -= done > 0 ? static_cast<std::size_t>(done) : 0;
  }
  return true;
}

/// Non-blocking: a FIFO of this name must not hang; the reader refuses it.
FileDescriptor open_result(const fs::path& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY));
}

struct Kept {
  fs::path path;
  std::uint64_t bytes = 0;
  std::int64_t used = 0;  ///< nanoseconds
};

}  // namespace

class Store::Impl {
 public:
  explicit Impl(StoreOptions options) : options_(std::move(options)) {
    std::error_code error;
    fs::create_directories(options_.folder, error);
    if (error || !fs::is_directory(options_.folder, error)) {
      throw Error(ErrorKind::Output, {"the store's folder cannot be made", options_.folder.string(),
                                      error ? error.message() : std::string("something else of this name"), "a folder",
                                      "name another one with --store, or none with --store none"});
    }
    remove_orphans();
    total_ = total_of(scan());
  }

  std::optional<std::string> get(std::string_view kind, std::string_view key) {
    const fs::path path = options_.folder / result_name(kind, key);
    const FileDescriptor file = open_result(path);
    if (!file.valid()) {
      return {};
    }
    ResultHeader header{};
    std::uint64_t size = 0;
    std::string fault = read_header(file.get(), kind, key, header, size);
    std::string bytes;
    if (fault.empty()) {
      try {
        bytes.resize(size - kHeaderBytes);
      } catch (const std::bad_alloc&) {
        return {};  // a result that does not fit into memory counts as missing
      }
      if (!read_all(file.get(), bytes.data(), bytes.size())) {
        fault = "it cannot be read";
      } else if (!checksum_fits(header, bytes)) {
        fault = "its checksum differs";
      }
    }
    if (!fault.empty()) {
      remove_damaged(path, size, fault);
      return {};
    }
    touch(file.get());
    return bytes;
  }

  [[nodiscard]] bool has(std::string_view kind, std::string_view key) const {
    const FileDescriptor file = open_result(options_.folder / result_name(kind, key));
    ResultHeader header{};
    std::uint64_t size = 0;
    return file.valid() && read_header(file.get(), kind, key, header, size).empty();
  }

  void put(std::string_view kind, std::string_view key, std::string_view bytes) {
    const std::string name = result_name(kind, key);
    const std::uint64_t size = kHeaderBytes + bytes.size();
    if (size > options_.most_bytes || has(kind, key)) {
      return;
    }
    {
      const std::scoped_lock lock(mutex_);
      if (off_) {
        return;
      }
      make_room(size);
      total_ += size;
      unseen_ += size;
    }
    if (const int error = write(name, make_header(kind, key, bytes), bytes); error != 0) {
      const std::scoped_lock lock(mutex_);
      total_ -= std::min(total_, size);
      if (error == EISDIR) {  // concerns this result alone
        if (told_.insert(name).second) {
          log(fmt::format("a result is not kept, a folder has its name: {}", (options_.folder / name).string()));
        }
      } else if (!std::exchange(off_, true)) {
        log(fmt::format("the store {} cannot be written ({}): results are not kept", options_.folder.string(),
                        std::strerror(error)));
      }
    }
  }

  [[nodiscard]] std::uint64_t bytes() const {
    return total_of(scan());
  }
  [[nodiscard]] const fs::path& folder() const {
    return options_.folder;
  }

  void clear() {
    const std::scoped_lock lock(mutex_);
    std::error_code ignored;
    for (const Kept& kept : scan()) {
      fs::remove(kept.path, ignored);
    }
    remove_orphans();
    total_ = total_of(scan());
    unseen_ = 0;
  }

 private:
  /// "" where the header is right, else the reason.
  static std::string read_header(int file, std::string_view kind, std::string_view key, ResultHeader& header,
                                 std::uint64_t& size) {
    struct stat status {};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
      return "it is no file";
    }
    size = static_cast<std::uint64_t>(status.st_size);
    if (size < kHeaderBytes || !read_all(file, header.data(), header.size())) {
      return "it is cut off";
    }
    return header_fault(header, kind, key, size);
  }

  /// A time later than all before, so that two results of one clock tick keep their order.
  void touch(int file) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    std::int64_t time = now.tv_sec * kNanoseconds + now.tv_nsec;
    {
      const std::scoped_lock lock(clock_mutex_);
      time = last_used_ = std::max(last_used_ + 1, time);
    }
    const std::array<timespec, 2> times = {timespec{time / kNanoseconds, time % kNanoseconds}, timespec{0, UTIME_OMIT}};
    // May fail for other users' files or on a read-only disk; the time then stays.
    static_cast<void>(::futimens(file, times.data()));
  }

  /// 0, or the system's error.
  int write(const std::string& name, const ResultHeader& header, std::string_view bytes) {
    const Temporary temporary = create_remembered_file(options_.folder / name);
    if (temporary.error != 0) {
      return temporary.error;
    }
    const fs::path& part = temporary.path;
    const int file = temporary.file.get();
    int error = write_all(file, {header.data(), header.size()});
    if (error == 0) {
      error = write_all(file, bytes);
    }
    if (error == 0) {
      touch(file);
      if (::rename(part.c_str(), (options_.folder / name).c_str()) != 0 && errno != ENOENT) {
        error = errno;  // ENOENT: another process removed it
      }
    }
    if (error != 0) {
      ::unlink(part.c_str());
    }
    forget_temporary(part);
    return error;
  }

  void remove_damaged(const fs::path& path, std::uint64_t size, const std::string& fault) {
    const bool removed = ::unlink(path.c_str()) == 0;
    const std::scoped_lock lock(mutex_);
    if (removed) {
      total_ -= std::min(total_, size);
    }
    if (told_.insert(path.string()).second) {
      log(fmt::format("a result of the store does not fit and is {}: {}: {}", removed ? "removed" : "left out",
                      path.string(), fault));
    }
  }

  /// Removes unfinished files without a writer: their lock is free.
  void remove_orphans() const {
    for_each([](const fs::path& path) {
      if (is_part_name(path.filename().string())) {
        struct stat status {};
        const FileDescriptor file = open_result(path);
        if (file.valid() && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
            ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
          ::unlink(path.c_str());
        }
      }
    });
  }

  template <class Visit>
  void for_each(Visit visit) const {
    std::error_code error;
    for (fs::directory_iterator it(options_.folder, error), end; !error && it != end; it.increment(error)) {
      visit(it->path());
    }
  }

  [[nodiscard]] std::vector<Kept> scan() const {
    std::vector<Kept> result;
    for_each([&](const fs::path& path) {
      struct stat status {};
      if (is_result_name(path.filename().string()) && ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
        result.push_back({path, static_cast<std::uint64_t>(status.st_size),
                          status.st_atim.tv_sec * kNanoseconds + status.st_atim.tv_nsec});
      }
    });
    return result;
  }

  static std::uint64_t total_of(const std::vector<Kept>& kept) {
    std::uint64_t total = 0;
    for (const Kept& one : kept) {
      total += one.bytes;
    }
    return total;
  }

  /// Evicts for `size` more bytes. Called under the mutex.
  void make_room(std::uint64_t size) {
    if (total_ + size <= options_.most_bytes && unseen_ <= options_.most_bytes / kUnseenParts) {
      return;
    }
    // One process at a time, or two would free twice as much. If locking fails, all proceed.
    const FileDescriptor lock(
        ::open((options_.folder / kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
    if (lock.valid()) {
      ::flock(lock.get(), LOCK_EX);
    }
    std::vector<Kept> kept = scan();
    total_ = total_of(kept);
    unseen_ = 0;
    if (total_ + size <= options_.most_bytes) {
      return;
    }
    std::ranges::sort(kept, {}, [](const Kept& one) { return std::pair(one.used, one.path); });
    const std::uint64_t goal = options_.most_bytes - std::max(size, options_.most_bytes / kRoomParts);
    for (const Kept& one : kept) {
      if (total_ <= goal) {
        break;
      }
      if (::unlink(one.path.c_str()) == 0 || errno == ENOENT) {
        total_ -= std::min(total_, one.bytes);
      }
    }
  }

  void log(const std::string& message) const {
    if (options_.log) {
      options_.log(message);
    }
  }

  StoreOptions options_;
  std::mutex mutex_;
  std::uint64_t total_ = 0;   ///< bytes, as far as this process knows
  std::uint64_t unseen_ = 0;  ///< bytes written since the folder was read
  bool off_ = false;
  std::set<std::string> told_;
  std::mutex clock_mutex_;
  std::int64_t last_used_ = 0;
};

fs::path default_store_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set
    return fs::path(value == nullptr ? "" : value);
  };
  if (fs::path own = variable("RAYREPLAY_STORE"); !own.empty()) {
    return own;
  }
  // XDG specification: relative paths are ignored.
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) {
    return cache / "rayreplay";
  }
  const fs::path home = variable("HOME");
  return home.empty() ? fs::path() : home / ".cache" / "rayreplay";
}

Store::Store(const StoreOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Store::~Store() = default;

std::optional<std::string> Store::get(std::string_view kind, std::string_view key) {
  return impl_->get(kind, key);
}
bool Store::has(std::string_view kind, std::string_view key) const {
  return impl_->has(kind, key);
}
void Store::put(std::string_view kind, std::string_view key, std::string_view bytes) {
  impl_->put(kind, key, bytes);
}
std::uint64_t Store::bytes() const {
  return impl_->bytes();
}
const fs::path& Store::folder() const {
  return impl_->folder();
}
void Store::clear() {
  impl_->clear();
}

}  // namespace rayreplay::experiment
