// What the layer keeps once for the process: options, the spool, instances and devices.
//
// All of it is reached through process(), which takes no memory. A forked child gets a fresh one that knows the
// parent's instances and devices (which stop recording there) and opens a spool of its own with its first device. Never
// destroyed, as threads of the application may still run while the process ends; the library's destruction writes the
// End block and closes the spool.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>

#include "capture/layer/device/device.hpp"
#include "capture/layer/registry.hpp"
#include "capture/spool/writer.hpp"

namespace rayreplay::layer {

struct Process {
  Process() noexcept;

  Options options;
  bool inert = false;  ///< a privileged program: no environment is read, nothing observed, no file written
  std::atomic<std::uint32_t> next_device{0}, next_pipeline{0}, next_shader{0}, next_launch{0}, captured{0};

  std::mutex spool_mutex;  ///< guards opening and the notes
  spool::SpoolWriter spool;
  std::string spool_path;
  std::atomic<bool> open{false}, failed{false};
  std::set<std::pair<std::string, std::uint32_t>> notes;  ///< text and launch
  std::atomic<std::uint32_t> seen{0};                     ///< a bit for each spool::Sight
  bool notes_full = false;                                ///< no more are kept, and that was said
  std::set<std::string, std::less<>> said;                ///< on standard error

  std::atomic<bool> unsaid{false};  ///< a note was lost: no memory

  std::shared_mutex objects_mutex;
  Registry<Instance> instances;
  Registry<Device> devices;
};

[[nodiscard]] Process& process() noexcept;

/// Opens the spool if it is not open yet; false if that fails (said once) or the process is inert.
bool open_spool(const Instance& instance);

/// Appends a block; false, said once, if the spool cannot be written.
template <typename Block>
bool spool_block(const Block& block);

/// Spools the sight, once for each kind.
void saw(spool::Sight sight);

/// After an append that failed: says so once; nothing is recorded any more.
void spool_failed() noexcept;

/// A line on standard error, if that is still the same file as when the layer was loaded.
void log(LogLevel level, std::string_view text) noexcept;

/// What the loader finds a dispatchable object's functions by; the same for all objects of a device.
[[nodiscard]] inline const void* dispatch_key(const void* object) {
  return *static_cast<const void* const*>(object);
}

/// Runs the layer's own work so that nothing it throws reaches the application; false if something was thrown.
template <typename Work>
bool attempt(const char* what, Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const std::exception& error) {
    try {
      note(std::string(what) + " failed: " + error.what());
    } catch (...) {
      process().unsaid = true;
    }
  } catch (...) {
    process().unsaid = true;
  }
  return false;
}

template <typename Block>
bool spool_block(const Block& block) {
  auto& p = process();
  if (!p.open.load() || p.failed.load()) {
    return false;
  }
  if (!p.spool.append(block)) {
    spool_failed();
    return false;
  }
  return true;
}

}  // namespace rayreplay::layer
