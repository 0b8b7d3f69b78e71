#include "sim/sweep/results/sqlite.hpp"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/working_folder.hpp"
#include "sim/sweep/results/database_file.hpp"

namespace rayreplay::sweep {
namespace {

// A lock by another process lasts for one commit or one query.
constexpr int kBusyMilliseconds = 10000;
constexpr int kMaxCellBytes = 64 << 20;

/// The system's reason for the last failure; 0 if unknown. Asks the connection, then the file, then its journal.
int system_error(sqlite3* database) {
  if (database == nullptr) {
    return 0;
  }
  int error = sqlite3_system_errno(database);
  if (error == 0) {
    sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  sqlite3_file* journal = nullptr;
  if (error == 0 && sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal) == SQLITE_OK &&
      journal != nullptr && journal->pMethods != nullptr) {
    journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error;
}

std::string reason(sqlite3* database, int code) {
  const int system = system_error(database);
  const int primary = code & 0xFF;
  if (system != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL)) {
    return std::strerror(system);
  }
  return sqlite3_errstr(code);
}

/// A user's statement may only read.
int authorize(void* /*unused*/, int action, const char* /*first*/, const char* second, const char* /*database*/,
              const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n;") == std::string_view::npos;
}

}  // namespace

std::string sql_name(std::string_view name) {
  std::string result = "\"";
  for (const char c : name) {
    result += c;
    if (c == '"') {
      result += c;
    }
  }
  return result + "\"";
}

void Statement::bind(int place, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(handle_.get(), place, value); code != SQLITE_OK) {
    connection_->raise(code);
  }
}

void Statement::bind(int place, double value) {
  if (const int code = sqlite3_bind_double(handle_.get(), place, value); code != SQLITE_OK) {
    connection_->raise(code);
  }
}

void Statement::bind(int place, std::string_view value) {
  const char* data = value.data() != nullptr ? value.data() : "";
  if (const int code = sqlite3_bind_text64(handle_.get(), place, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
      code != SQLITE_OK) {
    connection_->raise(code);
  }
}

void Statement::bind_null(int place) {
  if (const int code = sqlite3_bind_null(handle_.get(), place); code != SQLITE_OK) {
    connection_->raise(code);
  }
}

void Statement::bind(int place, const CellView& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    bind(place, *whole);
  } else if (const auto* real = std::get_if<double>(&value)) {
    bind(place, *real);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    bind(place, *text);
  } else {
    bind_null(place);
  }
}

int Statement::try_step() {
  return sqlite3_step(handle_.get());
}

bool Statement::step() {
  const int code = try_step();
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    connection_->raise(sqlite3_extended_errcode(connection_->get()));
  }
  return code == SQLITE_ROW;
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
}

CellView Statement::cell(int column) const {
  sqlite3_value* const value = sqlite3_column_value(handle_.get(), column);
  switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
      return sqlite3_value_double(value);
    default: {
      const auto* bytes = static_cast<const char*>(sqlite3_value_blob(value));
      return std::string_view(bytes, static_cast<std::size_t>(sqlite3_value_bytes(value)));
    }
  }
}

std::int64_t Statement::whole(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  const int bytes = sqlite3_column_bytes(handle_.get(), column);
  return data == nullptr ? std::string() : std::string(data, static_cast<std::size_t>(bytes));
}

int Statement::type(int column) const {
  return sqlite3_column_type(handle_.get(), column);
}

int Statement::columns() const {
  return sqlite3_column_count(handle_.get());
}

Connection::Connection(const std::filesystem::path& path, Mode mode) : path_(path), mode_(mode) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    std::filesystem::path beside = path;
    beside += suffix;
    require_regular_or_absent(beside, *suffix == '\0' ? "database" : "journal of a database");
  }
  if (std::error_code ignored; mode == Mode::Read && !std::filesystem::exists(path, ignored)) {
    if (path.is_relative()) {
      require_working_folder(ErrorKind::Input);
    }
    throw Error(ErrorKind::Input, {"the file does not exist", path.string(), "", "the results of a sweep", ""});
  }
  check_header(path);
  sqlite3* opened = nullptr;
  const int flags = mode == Mode::Read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  // Opened as a path, never as a URI.
  const std::string name = path.is_absolute() ? path.string() : "./" + path.string();
  const int code =
      sqlite3_open_v2(name.c_str(), &opened, flags | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(opened);
  if (code != SQLITE_OK) {
    const std::string why = reason(opened, code);
    if (path.is_relative()) {
      require_working_folder(mode == Mode::Read ? ErrorKind::Input : ErrorKind::Output);
    }
    if (mode == Mode::Read) {
      throw Error(ErrorKind::Input, {"cannot open the database", path.string(), why, "the results of a sweep", ""});
    }
    throw Error(ErrorKind::Output, {"cannot open the database for writing", path.string(), why, "",
                                    "choose a folder that you may write to"});
  }
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // "text" is always a name, never a string literal.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  sqlite3_exec(opened, "PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF", nullptr, nullptr, nullptr);
  // Our texts have some kilobytes: with this limit a damaged length is an error, not a huge allocation.
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kMaxCellBytes);
}

void Connection::raise(int code) const {
  const std::string where = path_.string();
  const std::string why = reason(handle_.get(), code);
  const int primary = code & 0xFF;
  if (mode_ == Mode::Read && (primary == SQLITE_IOERR || primary == SQLITE_READONLY || primary == SQLITE_PERM ||
                              primary == SQLITE_CANTOPEN || primary == SQLITE_FULL)) {
    throw Error(ErrorKind::Input, {"cannot read the database", where, why, "the results of a sweep", ""});
  }
  switch (primary) {
    case SQLITE_FULL:
      throw Error(ErrorKind::Output, {"cannot write the results", where, why, "",
                                      "free space on that disk; the same command then goes on with what was written"});
    case SQLITE_IOERR: {
      const int kind = code >> 8;
      if (kind == SQLITE_IOERR_READ >> 8 || kind == SQLITE_IOERR_SHORT_READ >> 8) {
        throw Error(ErrorKind::Input, {"cannot read the database", where, why, "", ""});
      }
      throw Error(ErrorKind::Output, {"cannot write the results", where, why, "",
                                      "free space on that disk; the same command then goes on with what was written"});
    }
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      throw Error(ErrorKind::Output, {"cannot write the database", where, sqlite3_errmsg(handle_.get()), "",
                                      "choose a folder that you may write to"});
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(ErrorKind::Output, {"another program keeps the database locked", where, why, "",
                                      "end the program that reads or writes it"});
    case SQLITE_NOTADB:
      throw Error(ErrorKind::Input, {"the file is not a database", where, "", "the results of a sweep", ""});
    case SQLITE_CORRUPT:
      throw Error(ErrorKind::Input, {"the database is damaged", where, sqlite3_errmsg(handle_.get()), "",
                                     "sqlite3 FILE .recover saves what can be read; --restart begins the sweep anew"});
    case SQLITE_NOMEM:
      throw Error(ErrorKind::Resource, {"not enough memory for the database", where, "", "", ""});
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      throw Error(ErrorKind::Internal,
                  {"the database refused a statement", where, sqlite3_errmsg(handle_.get()), "", ""});
    default:
      throw Error(ErrorKind::Input, {"the database is not as rayreplay writes it", where, sqlite3_errmsg(handle_.get()),
                                     "the results of a sweep", "copy the file again from where it came"});
  }
}

void Connection::run(const std::string& sql) const {
  if (try_run(sql) != SQLITE_OK) {
    raise(sqlite3_extended_errcode(handle_.get()));
  }
}

int Connection::try_run(const std::string& sql) const {
  return sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
}

Statement Connection::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  Statement statement;
  statement.handle_.reset(raw);
  statement.connection_ = this;
  if (code != SQLITE_OK) {
    raise(sqlite3_extended_errcode(handle_.get()));
  }
  return statement;
}

Statement Connection::prepare_query(std::string_view sql, const std::string& what) const {
  sqlite3_set_authorizer(handle_.get(), authorize, nullptr);
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &raw, &tail);
  sqlite3_set_authorizer(handle_.get(), nullptr, nullptr);
  Statement statement;
  statement.handle_.reset(raw);
  statement.connection_ = this;
  if ((code & 0xFF) == SQLITE_AUTH) {
    throw Error(ErrorKind::Usage, {"the SQL statement is not read-only", what, "'" + std::string(sql) + "'",
                                   "one SELECT", "results are only read; copy the file to change it"});
  }
  if (const int primary = code & 0xFF;
      primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_BUSY) {
    raise(code);
  }
  if (code != SQLITE_OK) {
    throw Error(ErrorKind::Usage, {std::string("the SQL is wrong: ") + sqlite3_errmsg(handle_.get()), what,
                                   "'" + std::string(sql) + "'", "", "names with dots stand between double quotes"});
  }
  const std::string_view rest = sql.substr(static_cast<std::size_t>(tail - sql.data()));
  if (raw == nullptr || !is_blank(rest) || sqlite3_stmt_readonly(raw) == 0 || sqlite3_column_count(raw) == 0) {
    throw Error(ErrorKind::Usage,
                {"the SQL is not a single SELECT statement", what, "'" + std::string(sql) + "'", "one SELECT", ""});
  }
  return statement;
}

std::int64_t Connection::number(const std::string& sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.whole(0) : 0;
}

}  // namespace rayreplay::sweep
