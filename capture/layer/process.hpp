// The layer's state of the process: options, the spool, instances and devices.
//
// Reached through process(), which allocates nothing. A forked child gets a new object that knows the parent's
// instances and devices (which stop recording in the child) and opens a spool of its own with its first device. Never
// destroyed, as threads of the application may still run when the process ends; unloading the library writes the End
// block and closes the spool.
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

/// Appends a block; false if the spool cannot be written (logged once).
template <typename Block>
bool spool_block(const Block& block);

/// Writes the sight to the spool, once per kind.
void saw(spool::Sight sight);

/// After a failed append: logs once, and recording ends.
void spool_failed() noexcept;

/// A line on standard error, if it is still the file of the layer's load time.
void log(LogLevel level, std::string_view text) noexcept;

/// The loader's key for a dispatchable object's functions; the same for all objects of a device.
[[nodiscard]] inline const void* dispatch_key(const void* object) {
  return *static_cast<const void* const*>(object);
}

/// Runs the layer's own work; no exception reaches the application. False if one was thrown.
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
