#include "app/commands/options/store_option.hpp"

#include <filesystem>

#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/error.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kStoreGroup = "Store";
constexpr const char* kNone = "none";

/// True if the path, or a parent of it, exists and is not a folder.
bool is_file_or_below(std::filesystem::path path) {
  std::error_code ignored;
  for (; !path.empty(); path = path.parent_path()) {
    if (std::filesystem::exists(path, ignored)) {
      return !std::filesystem::is_directory(path, ignored);
    }
  }
  return false;
}

}  // namespace

void StoreOption::add_to(CLI::App& command) {
  add_plain(command, "--store", folder_, "FOLDER",
            "Folder that keeps stages between runs, or none [$RAYREPLAY_STORE, else rayreplay in the user's "
            "cache folder]",
            kStoreGroup);
  add_value(command, "--store-size", size_, "SIZE", "Maximum size; the least recently used results are evicted first",
            kStoreGroup);
}

experiment::StoreOptions StoreOption::options() const {
  return {folder_ == kNone  ? std::filesystem::path()
          : folder_.empty() ? experiment::default_store_folder()
                            : std::filesystem::path(folder_),
          parse_bytes(size_, "--store-size"), [](const std::string& line) { console::note("{}", line); }};
}

std::unique_ptr<experiment::Store> StoreOption::open() const {
  const experiment::StoreOptions chosen = options();
  if (chosen.folder.empty()) {
    return nullptr;
  }
  try {
    return std::make_unique<experiment::Store>(chosen);
  } catch (const Error& error) {
    // An unwritable disk is only a warning; a file in place of a folder is a usage error.
    if (error.kind() != ErrorKind::Output || is_file_or_below(chosen.folder)) {
      throw;
    }
    console::note("nothing is kept between runs: {}", error.what());
    return nullptr;
  }
}

std::unique_ptr<experiment::Store> StoreOption::open_existing() const {
  std::error_code ignored;
  const experiment::StoreOptions chosen = options();
  return !chosen.folder.empty() && std::filesystem::is_directory(chosen.folder, ignored) ? open() : nullptr;
}

}  // namespace rayreplay::app
