#include "sim/sweep/results/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "sim/sweep/results/sqlite.hpp"

namespace rayreplay::sweep {
namespace {

constexpr std::array kWords = {"and",     "or",   "not",  "in",    "like",    "glob",    "between", "is",     "isnull",
                               "notnull", "null", "true", "false", "case",    "when",    "then",    "else",   "end",
                               "cast",    "as",   "real", "text",  "integer", "collate", "nocase",  "escape", "exists"};

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool in_name(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// End of a name with dots and parts after a colon.
std::size_t name_end(std::string_view text, std::size_t i) {
  while (i < text.size() &&
         (in_name(text[i]) || ((text[i] == '.' || text[i] == ':') && i + 1 < text.size() && in_name(text[i + 1])))) {
    ++i;
  }
  return i;
}

/// The position after the closing quote.
std::size_t quote_end(std::string_view text, std::size_t i) {
  const char quote = text[i];
  for (++i; i < text.size(); ++i) {
    if (text[i] == quote) {
      if (i + 1 < text.size() && text[i + 1] == quote) {
        ++i;
        continue;
      }
      return i + 1;
    }
  }
  throw Error(ErrorKind::Usage, {"a quote is not closed", "--where", "'" + std::string(text) + "'", "", ""});
}

bool is_column(std::string_view name, const std::vector<ResultColumn>& columns) {
  const std::string wanted = folded(name);
  return std::ranges::any_of(columns, [&](const ResultColumn& column) { return folded(column.name) == wanted; });
}

bool calls(std::string_view text, std::size_t i) {
  while (i < text.size() && text[i] == ' ') {
    ++i;
  }
  return i < text.size() && text[i] == '(';
}

[[noreturn]] void unknown(std::string_view name, const std::vector<ResultColumn>& columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const ResultColumn& column : columns) {
    names.push_back(column.name);
  }
  const std::string near = nearest(name, names);
  throw Error(ErrorKind::Usage,
              {"unknown column", "--where", "'" + std::string(name) + "'", "",
               near.empty() ? "see them with --query 'SELECT name, text FROM columns'; a text stands between quotes"
                            : "did you mean '" + near + "'?"});
}

std::string as_text(std::string_view inside) {
  std::string result = "'";
  for (std::size_t i = 0; i < inside.size(); ++i) {
    result += inside[i];
    if (inside[i] == '\'') {
      result += '\'';
    } else if (inside[i] == '"') {
      ++i;  // a doubled quote inside double quotes
    }
  }
  return result + "'";
}

}  // namespace

std::string where_to_sql(std::string_view text, const std::vector<ResultColumn>& columns) {
  std::string sql;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\'' || c == '"') {
      const std::size_t end = quote_end(text, i);
      const std::string_view whole = text.substr(i, end - i);
      const std::string_view inside = whole.substr(1, whole.size() - 2);
      sql += c == '\'' || is_column(inside, columns) ? std::string(whole) : as_text(inside);
      i = end;
    } else if (begins_name(c)) {
      const std::size_t end = name_end(text, i);
      const std::string_view name = text.substr(i, end - i);
      if (is_column(name, columns)) {
        sql += sql_name(name);
      } else if (std::ranges::find(kWords, folded(name)) != kWords.end() || calls(text, end)) {
        sql += name;
      } else {
        unknown(name, columns);
      }
      i = end;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      // A whole number, so that its exponent is not read as a name.
      while (i < text.size() && (in_name(text[i]) || text[i] == '.' ||
                                 ((text[i] == '+' || text[i] == '-') && (text[i - 1] == 'e' || text[i - 1] == 'E')))) {
        sql += text[i++];
      }
    } else if (text.substr(i, 2) == "&&" || text.substr(i, 2) == "||") {
      sql += c == '&' ? " AND " : " OR ";
      i += 2;
    } else if (c == ';') {
      throw Error(ErrorKind::Usage, {"a condition has no semicolon", "--where", "'" + std::string(text) + "'", "", ""});
    } else {
      sql += c;
      ++i;
    }
  }
  return sql;
}

std::string quote_columns(std::string_view text, const std::vector<ResultColumn>& columns) {
  std::string sql;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\'' || text[i] == '"') {
      const std::size_t end = quote_end(text, i);
      sql += text.substr(i, end - i);
      i = end;
    } else if (in_name(text[i])) {
      const std::size_t end = name_end(text, i);
      const std::string_view name = text.substr(i, end - i);
      const bool dotted = name.find_first_of(".:") != std::string_view::npos;
      sql += dotted && is_column(name, columns) ? sql_name(name) : std::string(name);
      i = end;
    } else {
      sql += text[i++];
    }
  }
  return sql;
}

}  // namespace rayreplay::sweep
