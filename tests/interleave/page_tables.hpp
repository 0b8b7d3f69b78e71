// Tables of the pages of docs/, for tests that hold them against what really happens.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/interleave/hand_made.hpp"

namespace rayreplay::test {

/// Cells of the rows of the page's table that begins with this header row, blanks at their ends left out.
inline std::vector<std::vector<std::string>> table_under(const std::string& file, const std::string& header) {
  std::ifstream page(file);
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line == header) {
      inside = true;
      continue;
    }
    if (!inside || line.starts_with("| ---")) {
      continue;
    }
    if (!line.starts_with("|")) {
      break;
    }
    std::vector<std::string>& cells = rows.emplace_back();
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) {
      const std::size_t begin = cell.find_first_not_of(' ');
      const std::size_t end = cell.find_last_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    }
  }
  return rows;
}

/// As the pages call it.
inline const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Hit:
      return "hit";
    case Outcome::Merged:
      return "merged";
    case Outcome::L2:
      return "L2";
    case Outcome::Dram:
      return "DRAM";
    case Outcome::Store:
      break;
  }
  return "store";
}

}  // namespace rayreplay::test
