#include "sim/sweep/results/rank_databases.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "sim/sweep/results/database_file.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".rank";

std::vector<fs::path> rank_databases(const fs::path& database) {
  const std::string start = database.filename().string() + kSuffix;
  const fs::path folder = database.has_parent_path() ? database.parent_path() : fs::path(".");
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(start) && name.size() > start.size() &&
        name.find_first_not_of("0123456789", start.size()) == std::string::npos) {
      found.push_back(it->path());
    }
  }
  if (error) {
    throw Error(ErrorKind::Output, {"the folder of the results cannot be listed", folder.string(), error.message(), "",
                                    "allow it to be read"});
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

fs::path rank_database(const fs::path& database, int rank) {
  return with_suffix(resolved(database), (kSuffix + std::to_string(rank)).c_str());
}

std::uint64_t join_rank_databases(ResultsWriter& results, const fs::path& database, const About& about, bool drop) {
  const std::vector<fs::path> found = rank_databases(resolved(database));
  for (const fs::path& path : found) {
    try {
      // The constructor checks that no other process writes the database and that it belongs to this sweep, and rolls
      // back the transaction of a killed process.
      ResultsWriter(path, about, drop);
      if (!drop) {
        results.merge(path);
        results.commit();
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input && error.kind() != ErrorKind::Usage) {
        throw;
      }
      ErrorInfo info = error.info();
      info.where = path.string() + (info.where == path.string() || info.where.empty() ? "" : ", " + info.where);
      info.fix =
          "remove " + path.string() + ", the rows of a rank of an earlier run; the sweep then evaluates them again";
      throw Error(error.kind(), info);
    }
    remove_database(path);
  }
  return found.size();
}

}  // namespace rayreplay::sweep
