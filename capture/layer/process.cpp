#include "capture/layer/process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "capture/layer/printable.hpp"
#include "capture/layer/standard_error.hpp"
#include "capture/spool/guest_files.hpp"

namespace rayreplay::layer {
namespace {

constexpr std::size_t kMaxNotes = 1000;
constexpr std::uint64_t kMaxCommandLine = std::uint64_t{4} << 20U;

std::atomic<Process*> current{nullptr};

// Never destroyed (process.hpp). A forked child uses the other one than its parent.
struct Room {
  alignas(Process) std::byte bytes[sizeof(Process)];
};
Room rooms[2];

const void* room(std::size_t index) {
  return &rooms[index];
}

void before_fork() {
  if (auto* p = current.load()) {
    p->objects_mutex.lock();
  }
}

void after_fork_in_parent() {
  if (auto* p = current.load()) {
    p->objects_mutex.unlock();
  }
}

/// Other threads of the parent may hold its locks, so the child starts with a new object.
void after_fork_in_child() {
  const auto* old = current.load();
  if (old == nullptr) {
    return;
  }
  auto* fresh = new (&rooms[old == room(0) ? 1 : 0]) Process;
  fresh->inert = old->inert;
  fresh->instances = old->instances;
  fresh->devices = old->devices;
  fresh->devices.for_each([](Device& device) { device.lost = true; });
  try {
    fresh->options = old->options;
  } catch (const std::exception&) {
    fresh->failed = true;  // No memory for them: nothing is recorded.
  }
  current = fresh;
}

/// Marks the spool as incomplete, if possible: an empty file needs no space on most disks.
void mark_failed(const Process& p) noexcept {
  try {
    // No reason: a forked child that is none of ours.
    const std::string& reason = p.spool.error();
    if (reason.empty() || p.spool_path.empty()) {
      return;
    }
    const int file = spool::open_apart((p.spool_path + spool::kFailedExtension).c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (file < 0) {
      return;
    }
    rlimit limit{};
    // A write beyond this limit would raise a signal in the application.
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= reason.size())) {
      [[maybe_unused]] const ssize_t ignored = write(file, reason.data(), reason.size());
    }
    close(file);
  } catch (...) {  // no memory for the name: only the line on standard error remains
    return;
  }
}

/// Notes that notes are missing; false if the spool cannot be written.
bool said_unsaid(Process& p) noexcept {
  try {
    return p.spool.append(
        spool::Note{spool::kNone, "there was no memory for notes: further missing parts are not listed"});
  } catch (const std::exception&) {
    return false;
  }
}

/// Writes the End block when the library is unloaded or the process ends.
struct AtEnd {
  AtEnd() = default;
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() {
    auto* p = current.load();
    if (p != nullptr && p->open.load() && !p->failed.load()) {
      const bool unsaid = p->unsaid.load() && !said_unsaid(*p);
      if (unsaid || !p->spool.append(spool::End{p->next_launch.load(), p->captured.load()})) {
        mark_failed(*p);
      }
      p->failed = true;
      p->spool.close();
    }
  }
};
const AtEnd at_end;

spool::Process describe(const Instance& instance, std::uint64_t start, const Options& options) {
  spool::Process block;
  block.pid = static_cast<std::uint32_t>(getpid());
  std::error_code ignored;
  block.executable = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  std::string why;
  const auto words = spool::read_regular("/proc/self/cmdline", kMaxCommandLine, why).value_or("");
  for (std::size_t at = 0; at < words.size();) {
    auto end = words.find('\0', at);
    end = end == std::string::npos ? words.size() : end;
    block.command_line.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  block.application_name = instance.application_name;
  block.engine_name = instance.engine_name;
  block.tool_version = RAYREPLAY_VERSION;
  block.options = to_text(options);
  block.start_unix_ns = start;
  return block;
}

bool open_new(Process& p, const Instance& instance) {
  const auto start = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  // If it fails, opening the file fails too, with the reason.
  [[maybe_unused]] const bool made = spool::make_private_folders(p.options.spool);
  const auto path = std::filesystem::path(p.options.spool) /
                    (std::to_string(getpid()) + "-" + std::to_string(start) + spool::kFileExtension);
  p.spool_path = path.string();
  if (!p.spool.open(p.spool_path) || !p.spool.append(describe(instance, start, p.options))) {
    p.failed = true;
    mark_failed(p);
    log(LogLevel::Warning, "cannot write " + path.string() + ": " + p.spool.error() + "; nothing is recorded");
    return false;
  }
  p.open = true;
  log(LogLevel::Info, "recording to " + path.string());
  return true;
}

void keep_note(std::string_view text, std::uint32_t launch) {
  auto& p = process();
  bool said = false;
  {
    const std::scoped_lock lock(p.spool_mutex);
    if (p.notes.size() >= kMaxNotes) {
      if (p.notes.contains({std::string(text), launch}) || p.notes_full) {
        return;
      }
      p.notes_full = true;
      text = "there are more than 1000 notes: further missing parts are not listed";
      launch = spool::kNone;
    }
    said = p.said.contains(text);
    if (!p.notes.emplace(text, launch).second) {
      return;
    }
    p.said.emplace(text);
  }
  if (!said) {
    log(LogLevel::Warning, text);
  }
  spool_block(spool::Note{launch, std::string(text)});
}

}  // namespace

Process::Process() noexcept = default;

Process& process() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    auto* made = new (&rooms[0]) Process;
    made->inert = getauxval(AT_SECURE) != 0;
    remember_standard_error();
    if (!made->inert) {
      try {
        made->options = resolve([](const char* name) -> const char* { return std::getenv(name); });
      } catch (const std::exception&) {
        made->failed = true;  // No memory for them: nothing is recorded.
      }
    }
    current = made;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  });
  return *current.load();
}

bool open_spool(const Instance& instance) {
  auto& p = process();
  const std::scoped_lock lock(p.spool_mutex);
  if (p.failed.load() || p.inert) {
    return false;
  }
  if (p.open.load()) {
    return true;
  }
  if (!open_new(p, instance)) {
    return false;
  }
  for (const auto& problem : p.options.problems) {
    log(LogLevel::Warning, problem);
    p.spool.append(spool::Note{spool::kNone, "option: " + problem});
  }
  return true;
}

void saw(spool::Sight sight) {
  const std::uint32_t bit = std::uint32_t{1} << static_cast<std::uint32_t>(sight);
  if ((process().seen.fetch_or(bit) & bit) == 0) {
    spool_block(spool::Seen{sight});
  }
}

void spool_failed() noexcept {
  auto& p = process();
  if (p.failed.exchange(true)) {
    return;
  }
  mark_failed(p);
  try {
    log(LogLevel::Warning, "the spool cannot be written any more (" + p.spool.error() + "); recording stops here");
  } catch (const std::exception&) {
    log(LogLevel::Warning, "the spool cannot be written any more; recording stops here");
  }
}

void log(LogLevel level, std::string_view text) noexcept {
  const auto& p = process();
  if (level > p.options.log || p.inert) {
    return;
  }
  try {
    // Names come from the application and the driver: control characters must not reach a terminal.
    write_standard_error(printable(text));
  } catch (const std::exception&) {
    write_standard_error("a line is missing here: no memory was left to write it");
  }
}

const Options& options() {
  return process().options;
}

void note(std::string_view text, std::uint32_t launch) noexcept {
  try {
    keep_note(text, launch);
  } catch (const std::exception&) {
    process().unsaid = true;
  }
}

Device* device_of(const void* dispatchable) {
  auto& p = process();
  const std::shared_lock lock(p.objects_mutex);
  return p.devices.find(dispatch_key(dispatchable));
}

}  // namespace rayreplay::layer
