#include "base/temporary.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <random>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace rayreplay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPart = ".part-";
constexpr std::size_t kDigits = 16;
// Two names are equal by chance once in 2^64. Further tries are for temporaries that another process removed before
// they were locked.
constexpr int kTries = 16;

fs::path folder_of(const fs::path& output) {
  return output.has_parent_path() ? output.parent_path() : fs::path(".");
}

/// The common start of the names of an output's temporaries.
std::string stem_of(const fs::path& output) {
  const std::string name = output.filename().string();
  const std::size_t most = NAME_MAX - kPart.size() - kDigits;
  return name.substr(0, most) + std::string(kPart);
}

bool is_random(std::string_view digits) {
  return digits.size() == kDigits &&
         std::ranges::all_of(digits, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// Whether the name still belongs to the file: no process removed it between its creation and its lock.
bool is_still_there(int descriptor, const fs::path& path) {
  struct stat ours {
  }, now{};
  return ::fstat(descriptor, &ours) == 0 && ::lstat(path.c_str(), &now) == 0 && ours.st_ino == now.st_ino &&
         ours.st_dev == now.st_dev;
}

template <class Create>
Temporary create(const fs::path& output, Create&& create_at) {
  Temporary result;
  for (int i = 0; i < kTries; ++i) {
    result.path = folder_of(output) / (stem_of(output) + random_digits());
    if (!output.has_parent_path()) {
      result.path = result.path.filename();
    }
    result.file = FileDescriptor(create_at(result.path));
    result.error = result.file.valid() ? 0 : errno;
    if (result.error != 0 && result.error != EEXIST && result.error != EINTR && result.error != ENOENT) {
      return result;
    }
    if (result.error == 0) {
      if (lock_temporary(result.file.get()) && is_still_there(result.file.get(), result.path)) {
        return result;
      }
      result.error = EBUSY;
    }
  }
  return result;
}

/// A locked descriptor of an abandoned temporary, or none. `flags`: further flags of open(2).
FileDescriptor take_abandoned(const fs::path& path, mode_t kind, int flags) {
  struct stat status {};
  // Checked before opening, because opening a device may have effects.
  if (::lstat(path.c_str(), &status) != 0 || (status.st_mode & S_IFMT) != kind || status.st_uid != ::geteuid()) {
    return {};
  }
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || (status.st_mode & S_IFMT) != kind ||
      status.st_uid != ::geteuid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return {};
  }
  return file;
}

template <class Visit>
void for_each_name(const fs::path& folder, Visit&& visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    visit(it->path().filename().string());
  }
}

}  // namespace

std::string random_digits() {
  std::uint64_t value = 0;
  if (::getrandom(&value, sizeof(value), 0) != static_cast<ssize_t>(sizeof(value))) {
    std::random_device device;  // a system without the call
    value = (std::uint64_t{device()} << 32U) | device();
  }
  return fmt::format("{:016x}", value);
}

bool is_temporary_name(std::string_view name) {
  if (name.size() < kPart.size() + kDigits) {
    return false;
  }
  const std::string_view end = name.substr(name.size() - kPart.size() - kDigits);
  return end.starts_with(kPart) && is_random(end.substr(kPart.size()));
}

bool lock_temporary(int descriptor) {
  int code = 0;
  do {
    code = ::flock(descriptor, LOCK_EX | LOCK_NB);
  } while (code != 0 && errno == EINTR);
  return code == 0 || errno != EWOULDBLOCK;
}

Temporary create_temporary_file(const fs::path& output) {
  constexpr mode_t kMode = 0666;  // the umask takes its part
  return create(output, [](const fs::path& path) {
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  });
}

Temporary create_temporary_folder(const fs::path& output) {
  constexpr mode_t kMode = 0777;
  return create(output, [](const fs::path& path) {
    if (::mkdir(path.c_str(), kMode) != 0) {
      return -1;
    }
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) {
      const int error = errno;
      ::rmdir(path.c_str());
      errno = error;
    }
    return descriptor;
  });
}

void remove_leftovers(const fs::path& output) noexcept {
  try {
    const fs::path folder = folder_of(output);
    const std::string stem = stem_of(output);
    for_each_name(folder, [&](const std::string& name) {
      if (name.starts_with(stem) && is_random(std::string_view(name).substr(stem.size()))) {
        const fs::path path = folder / name;
        // Opened for writing: file systems that emulate flock by fcntl need it for an exclusive lock.
        if (take_abandoned(path, S_IFREG, O_RDWR).valid()) {
          ::unlink(path.c_str());
        }
      }
    });
  } catch (const std::exception&) {
    return;  // the leftovers stay
  }
}

void visit_abandoned_folders(const fs::path& parent, const std::function<bool(const std::string& name)>& is_wanted,
                             const std::function<void(const fs::path&)>& remove) {
  std::vector<std::string> names;
  for_each_name(parent, [&](const std::string& name) {
    if (is_wanted(name)) {
      names.push_back(name);
    }
  });
  for (const std::string& name : names) {
    const fs::path path = parent / name;
    if (const FileDescriptor lock = take_abandoned(path, S_IFDIR, O_RDONLY | O_DIRECTORY); lock.valid()) {
      remove(path);
    }
  }
}

void visit_abandoned_folders(const fs::path& output, const std::function<void(const fs::path&)>& remove) {
  const std::string stem = stem_of(output);
  visit_abandoned_folders(
      folder_of(output),
      [&stem](const std::string& name) {
        return name.starts_with(stem) && is_random(std::string_view(name).substr(stem.size()));
      },
      remove);
}

}  // namespace rayreplay
