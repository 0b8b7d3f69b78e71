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
  /// Files that a kill leaves by design: the recording of an application. The next run gets an option to replace it.
  std::vector<std::string> kept = {};
};

/// Makes the common inputs of the commands.
void make_inputs(const std::filesystem::path& folder);
[[nodiscard]] std::vector<WritingCommand> writing_commands();

}  // namespace rayreplay::test
