// The store: results of stages on disk, found by the hash of what they depend on.
//
// Contract: a folder of files, one a result, named by kind and key; written aside and renamed, so that a result is
// whole or not there, whoever else writes; several processes and machines may share a folder. Each file holds its kind,
// key, length and checksum: one that does not fit is removed and counts as not there (told to `log` once). `put` keeps
// the whole below `most_bytes`: least recently used out (a file's time of access, which `get` sets itself), a sixteenth
// of the whole at a time; a result larger than that is not kept. Of several processes each may be ahead by a 64th
// before it sees what the others wrote. Files that are not the store's stay. A full or read-only disk is told to `log`
// once and nothing more is kept: never an error of the experiment. What a killed process was writing is removed by the
// next one that opens the folder. Results are not flushed to disk: one that a power failure tears is one that does not
// fit. Thread-safe.
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

/// $RAYREPLAY_STORE, else $XDG_CACHE_HOME/rayreplay, else ~/.cache/rayreplay; "" where none of them is known.
[[nodiscard]] std::filesystem::path default_store_folder();

class Store {
 public:
  /// Makes the folder. Output where it cannot be made.
  explicit Store(const StoreOptions& options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// `kind`: "stream", "metrics", …: part of the file's name. `key`: 32 hexadecimal digits.
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
