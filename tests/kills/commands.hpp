// Every command that writes, small enough to be run some hundred times.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rayreplay::test {

enum class OutputKind {
  File,      ///< the same bytes each time
  Folder,    ///< of such files
  Database,  ///< of a sweep: rows are compared but for where and when they were made
  Store,     ///< a folder of results: only leftovers count
};

struct WrittenOutput {
  std::string name;  ///< in the folder of the run
  OutputKind kind = OutputKind::File;
};

struct WritingCommand {
  std::string name;
  std::vector<std::string> arguments;  ///< "@IN/…" of the common inputs, "@OUT/…" of the run's folder
  std::vector<WrittenOutput> outputs;
  bool replaces = true;  ///< takes --force
  /// What a kill leaves on purpose: the recording of an application, which the next run is told to replace.
  std::vector<std::string> kept = {};
};

/// What the commands read.
void make_inputs(const std::filesystem::path& folder);
[[nodiscard]] std::vector<WritingCommand> writing_commands();

}  // namespace rayreplay::test
