// The store: results of stages on disk, found by the hash of what they depend on.
//
// Contract: a folder with one file per result, named by kind and key, shared by any number of processes and machines. A
// file is written aside and renamed: a result is whole or absent. Each file holds kind, key, length and checksum; a
// file that does not fit is removed, counts as missing and is logged once. `put` keeps the total below `most_bytes`:
// the least recently used sixteenth is evicted (by access time, which `get` sets); a larger result is not kept. Each
// process may exceed the limit by a 64th before it sees what others wrote. Other files in the folder stay. A full or
// read-only disk is logged once; from then on nothing is stored, and experiments continue. Opening the folder removes
// files of killed writers. Results are not flushed: after a power failure a torn file does not fit its checksum.
// Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rayreplay::experiment {

struct StoreOptions {
  std::filesystem::path folder;
  std::uint64_t most_bytes = std::uint64_t{10} << 30U;
  std::function<void(const std::string&)> log{};
};

/// $RAYREPLAY_STORE, else $XDG_CACHE_HOME/rayreplay, else ~/.cache/rayreplay; "" where none is set.
[[nodiscard]] std::filesystem::path default_store_folder();

class Store {
 public:
  /// Makes the folder. Output where it cannot be made.
  explicit Store(const StoreOptions& options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// `kind`: "stream", "metrics", …: part of the file name. `key`: 32 hexadecimal digits.
  [[nodiscard]] std::optional<std::string> get(std::string_view kind, std::string_view key);
  [[nodiscard]] bool has(std::string_view kind, std::string_view key) const;
  void put(std::string_view kind, std::string_view key, std::string_view bytes);

  [[nodiscard]] std::uint64_t bytes() const;  ///< of all files now
  [[nodiscard]] const std::filesystem::path& folder() const;
  void clear();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::experiment
