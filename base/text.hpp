// Text from outside: whether it is UTF-8, and how it is made safe to show and to store.
//
// Contract: names, keys, paths and arguments come from files, applications and the command line, and may hold any
// bytes. There are three forms. Each is defined for every input (no errors) and leaves ordinary text unchanged:
//   printable     for a terminal, a table, a message: control characters (C0, DEL, C1), line breaks, marks of direction
//                 and other invisible format characters, and bytes that are not UTF-8 are written out: \x1b, \u{202e},
//                 \xff. The result is UTF-8 and moves no cursor.
//   as_utf8       for JSON, HTML, HDF5 and SQLite, and for paths in any UTF-8 text: bytes that are not UTF-8 are
//                 written out as \xff.
//   replaced      for names that an application gave: each sequence that is not UTF-8 becomes U+FFFD.
// A backslash is not escaped: the forms are for display and cannot be reversed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rayreplay::text {

inline constexpr std::size_t kAllValid = std::string_view::npos;

/// The byte at which the first sequence that is not UTF-8 begins; `kAllValid` if there is none.
[[nodiscard]] std::size_t invalid_at(std::string_view text);

[[nodiscard]] std::string printable(std::string_view text);
/// As `printable`, but line ends (LF, CR LF) stay: for text of several lines, whose parts are `printable` already.
[[nodiscard]] std::string printable_lines(std::string_view text);
[[nodiscard]] std::string as_utf8(std::string_view text);
[[nodiscard]] std::string replaced(std::string_view text);

}  // namespace rayreplay::text
