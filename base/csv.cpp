#include "base/csv.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace rayreplay {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& source) : text_(text), source_(&source) {
    if (text_.starts_with(kByteOrderMark)) {
      at_ = line_begin_ = kByteOrderMark.size();
    }
  }

  /// The next row that is not an empty line; none at the end.
  std::optional<CsvRow> next() {
    while (at_ < text_.size() && end_of_line_at(at_) > 0) {
      end_line();
    }
    if (at_ == text_.size()) {
      return std::nullopt;
    }
    CsvRow row{line_, {}};
    for (;;) {
      row.cells.push_back(text_[at_] == '"' ? quoted_cell() : plain_cell());
      if (at_ == text_.size()) {
        return row;
      }
      if (text_[at_] != ',') {
        end_line();
        return row;
      }
      ++at_;
      if (at_ == text_.size()) {
        row.cells.emplace_back();
        return row;
      }
    }
  }

  [[noreturn]] void wrong(std::string what, std::uint64_t line, std::size_t byte, std::string found,
                          std::string expected, std::string fix) const {
    throw Error(ErrorKind::Input, {std::move(what), fmt::format("{}:{}:{}", *source_, line, byte), std::move(found),
                                   std::move(expected), std::move(fix)});
  }

 private:
  /// Bytes of the line end at this place: 0, 1 or 2.
  [[nodiscard]] std::size_t end_of_line_at(std::size_t place) const {
    if (text_[place] == '\n') {
      return 1;
    }
    return text_.substr(place).starts_with("\r\n") ? 2 : 0;
  }

  void end_line() {
    at_ += end_of_line_at(at_);
    line_begin_ = at_;
    ++line_;
  }

  [[nodiscard]] std::size_t byte_in_line() const {
    return at_ - line_begin_ + 1;
  }

  /// The start of what stands here, for a message.
  [[nodiscard]] std::string behind() const {
    constexpr std::size_t kShown = 20;
    const std::string_view line = text_.substr(at_, text_.find_first_of("\r\n", at_) - at_);
    std::size_t end = std::min(line.size(), kShown);
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) {
      ++end;  // not inside a character
    }
    return fmt::format("'{}'", line.substr(0, end));
  }

  std::string plain_cell() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && end_of_line_at(at_) == 0) {
      if (text_[at_] == '"') {
        wrong("a quote stands inside a cell", line_, byte_in_line(), "'\"'", "a cell that starts with the quote",
              "put the whole cell between quotes, and double each quote inside");
      }
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string quoted_cell() {
    const std::uint64_t line = line_;
    const std::size_t byte = byte_in_line();
    std::string cell;
    for (++at_;;) {
      if (at_ == text_.size()) {
        wrong("a quote has no end", line, byte, "the end of the file", "a closing quote", "");
      }
      const char one = text_[at_++];
      if (one == '"') {
        if (at_ == text_.size() || text_[at_] != '"') {
          break;
        }
        ++at_;
      } else if (one == '\n') {
        line_begin_ = at_;
        ++line_;
      }
      cell += one;
    }
    if (at_ < text_.size() && text_[at_] != ',' && end_of_line_at(at_) == 0) {
      wrong("text follows a closing quote", line_, byte_in_line(), behind(), "a comma or the end of the line",
            "double each quote inside a cell");
    }
    return cell;
  }

  std::string_view text_;
  const std::string* source_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  std::uint64_t line_ = 1;
};

/// Refuses bytes that no text has.
void require_text(std::string_view text, const std::string& source) {
  const std::size_t at = std::min(text::invalid_at(text), text.find('\0'));
  if (at == std::string_view::npos) {
    return;
  }
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  throw Error(ErrorKind::Input,
              {"the file is no text", fmt::format("{}:{}:{}", source, line, at - begin + 1),
               fmt::format("byte {:#04x}", static_cast<unsigned char>(text[at])), "UTF-8", "save it as UTF-8"});
}

void require_names(const CsvTable& table) {
  std::set<std::string_view> known;
  for (std::size_t i = 0; i < table.header.cells.size(); ++i) {
    const std::string& name = table.header.cells[i];
    const std::string place = fmt::format("{}:{}, column {}", table.source, table.header.line, i + 1);
    if (name.empty()) {
      throw Error(ErrorKind::Input, {"a column has no name", place, "an empty cell", "a name in the header line", ""});
    }
    if (!known.insert(name).second) {
      throw Error(ErrorKind::Input, {"two columns have one name", place, "'" + name + "'", "each name once",
                                     "rename or remove one of the two"});
    }
  }
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(header.cells, name);
  return found == header.cells.end() ? std::nullopt
                                     : std::optional(static_cast<std::size_t>(found - header.cells.begin()));
}

std::string CsvTable::place(const CsvRow& row, std::size_t column) const {
  return fmt::format("{}:{}, column {} ({})", source, row.line, column + 1, header.cells[column]);
}

CsvTable parse_csv(std::string_view text, const std::string& source, std::size_t most_rows) {
  require_text(text, source);
  CsvReader reader(text, source);
  CsvTable table{source, {}, {}};
  std::optional<CsvRow> row = reader.next();
  if (!row) {
    throw Error(ErrorKind::Input, {"the file has no header line", source, "an empty file", "names of columns", ""});
  }
  table.header = std::move(*row);
  require_names(table);
  for (row = reader.next(); row; row = reader.next()) {
    if (row->cells.size() != table.header.cells.size()) {
      throw Error(
          ErrorKind::Input,
          {row->cells.size() < table.header.cells.size() ? "a row has too few cells" : "a row has too many cells",
           fmt::format("{}:{}", source, row->line), counted(row->cells.size(), "cell"),
           fmt::format("{}, as in the header", counted(table.header.cells.size(), "cell")),
           "write an empty cell as nothing between two commas, and a comma inside a cell between quotes"});
    }
    if (table.rows.size() == most_rows) {
      throw Error(ErrorKind::Input, {"the file has too many rows", fmt::format("{}:{}", source, row->line), "",
                                     fmt::format("at most {}", counted(most_rows, "row")), ""});
    }
    table.rows.push_back(std::move(*row));
  }
  return table;
}

}  // namespace rayreplay
