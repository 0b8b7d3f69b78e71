// SQLite with rayreplay::Error and scoped objects.
//
// Contract: a `Connection` never trusts the file's schema (no functions from triggers and views) and checks the cells
// of every page it reads. It opens regular files only, because SQLite would wait for the writer of a FIFO; journal and
// log beside the file must be regular files too. `raise` turns the last error of a connection into Output (full disk,
// no permission, file too large) or Input (all read errors, and own SQL that the file's schema refuses). Internal means
// misuse of SQLite. Users' statements go through `prepare_query`; their errors are Usage with SQLite's text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <sqlite3.h>

namespace rayreplay::sweep {

/// A cell: NULL, a number or a text.
using CellView = std::variant<std::monostate, std::int64_t, double, std::string_view>;

class Statement {
 public:
  Statement() = default;
  [[nodiscard]] sqlite3_stmt* get() const {
    return handle_.get();
  }
  void bind(int place, std::int64_t value);
  void bind(int place, double value);
  void bind(int place, std::string_view value);  ///< must stay valid until the next step
  void bind_null(int place);
  void bind(int place, const CellView& value);
  /// SQLITE_ROW or SQLITE_DONE; other codes are raised.
  bool step();
  /// SQLite's result code, unchecked.
  int try_step();
  void reset();

  /// Valid until the next step. One decoding: asking for type, bytes and content takes the statement's lock each time.
  [[nodiscard]] CellView cell(int column) const;
  [[nodiscard]] std::int64_t whole(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] int type(int column) const;
  [[nodiscard]] int columns() const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const {
      sqlite3_finalize(statement);
    }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  const class Connection* connection_ = nullptr;
};

class Connection {
 public:
  enum class Mode { Read, Write };

  Connection(const std::filesystem::path& path, Mode mode);

  [[nodiscard]] sqlite3* get() const {
    return handle_.get();
  }
  [[nodiscard]] const std::filesystem::path& path() const {
    return path_;
  }
  void run(const std::string& sql) const;
  /// Returns the code instead of raising an error.
  int try_run(const std::string& sql) const;
  [[nodiscard]] Statement prepare(std::string_view sql) const;
  /// A single SELECT of the user's; Usage with SQLite's reason. `what`: the option.
  [[nodiscard]] Statement prepare_query(std::string_view sql, const std::string& what) const;
  [[nodiscard]] std::int64_t number(const std::string& sql) const;
  [[noreturn]] void raise(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const {
      sqlite3_close_v2(database);
    }
  };
  std::filesystem::path path_;
  Mode mode_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// An identifier in double quotes.
[[nodiscard]] std::string sql_name(std::string_view name);

}  // namespace rayreplay::sweep
