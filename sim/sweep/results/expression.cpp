#include "sim/sweep/results/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

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

struct Token {
  enum class Kind : std::uint8_t { Quoted, Name, Other } kind;
  std::string_view text;
};

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size(); i += tokens.back().text.size()) {
    const auto add = [&](Token::Kind kind, std::size_t end) { tokens.push_back({kind, text.substr(i, end - i)}); };
    if (text[i] == '\'' || text[i] == '"') {
      add(Token::Kind::Quoted, quote_end(text, i));
    } else if (begins_name(text[i])) {
      add(Token::Kind::Name, name_end(text, i));
    } else if (in_name(text[i])) {
      // A number is one token, so that its exponent is not read as a name.
      std::size_t end = i + 1;
      while (end < text.size() && (in_name(text[end]) || text[end] == '.' ||
                                   ((text[end] == '+' || text[end] == '-') && (text[end - 1] | ' ') == 'e'))) {
        ++end;
      }
      add(Token::Kind::Other, end);
    } else {
      const std::string_view two = text.substr(i, 2);
      add(Token::Kind::Other, i + (two == "&&" || two == "||" ? 2 : 1));
    }
  }
  return tokens;
}

/// True if a bracket follows the token.
bool calls(const std::vector<Token>& tokens, std::size_t i) {
  do {
    ++i;
  } while (i < tokens.size() && tokens[i].text == " ");
  return i < tokens.size() && tokens[i].text == "(";
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
  const std::vector<Token> tokens = tokens_of(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i].text;
    if (tokens[i].kind == Token::Kind::Quoted) {
      const std::string_view inside = token.substr(1, token.size() - 2);
      sql += token[0] == '\'' || is_column(inside, columns) ? std::string(token) : as_text(inside);
    } else if (tokens[i].kind == Token::Kind::Name) {
      if (is_column(token, columns)) {
        sql += sql_name(token);
      } else if (std::ranges::find(kWords, folded(token)) != kWords.end() || calls(tokens, i)) {
        sql += token;
      } else {
        unknown(token, columns);
      }
    } else if (token == ";") {
      throw Error(ErrorKind::Usage, {"a condition has no semicolon", "--where", "'" + std::string(text) + "'", "", ""});
    } else {
      sql += token == "&&" ? " AND " : token == "||" ? " OR " : token;
    }
  }
  return sql;
}

std::string quote_columns(std::string_view text, const std::vector<ResultColumn>& columns) {
  std::string sql;
  for (const Token& token : tokens_of(text)) {
    const bool dotted = token.kind == Token::Kind::Name && token.text.find_first_of(".:") != std::string_view::npos;
    sql += dotted && is_column(token.text, columns) ? sql_name(token.text) : std::string(token.text);
  }
  return sql;
}

}  // namespace rayreplay::sweep
