#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kMinLine = 4;  // line numbers stay below 2^64 - 1, which marks an empty way
constexpr std::uint32_t kMaxLine = 65536;
constexpr std::uint32_t kMaxSectors = 8;
constexpr std::uint64_t kLinesLimit = std::uint64_t{1} << 31U;

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKi = 1024;
  if (bytes % (kKi * kKi) == 0) {
    return fmt::format("{}MiB", bytes / (kKi * kKi));
  }
  return bytes % kKi == 0 ? fmt::format("{}KiB", bytes / kKi) : fmt::format("{}", bytes);
}

std::uint64_t parse_size(std::string_view text, const std::string& where) {
  struct Unit {
    std::string_view name;
    std::uint64_t bytes;
  };
  constexpr std::array<Unit, 4> kUnits = {{{"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}};
  const Unit& unit = *std::ranges::find_if(kUnits, [&](const Unit& one) { return text.ends_with(one.name); });
  const std::string_view digits = text.substr(0, text.size() - unit.name.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() ||
      number > std::numeric_limits<std::uint64_t>::max() / unit.bytes) {
    usage("the size of a cache is not understood", where, fmt::format("'{}'", text),
          "a number of bytes, KiB or MiB, or 'none'", "write it like 32KiB:line=128,ways=64,sector=32");
  }
  return number * unit.bytes;
}

std::uint32_t parse_number(std::string_view key, std::string_view text, std::string_view word,
                           const std::string& where) {
  if (!word.empty() && text == word) {
    return 0;
  }
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
    usage(fmt::format("'{}' of a cache is not understood", key), where, fmt::format("'{}'", text),
          word.empty() ? "a number of at least 1" : fmt::format("a number of at least 1, or '{}'", word));
  }
  return number;
}

void set_key(CacheGeometry& geometry, std::string_view setting, std::vector<std::string>& seen,
             const std::string& where) {
  const std::size_t equals = setting.find('=');
  const std::string key(setting.substr(0, equals));
  if (std::ranges::find(seen, key) != seen.end()) {
    usage("a key of a cache is given twice", where, fmt::format("'{}'", key), "each key once");
  }
  seen.push_back(key);
  const std::string_view value = equals == std::string_view::npos ? std::string_view{} : setting.substr(equals + 1);
  if (key == "line") {
    geometry.line_bytes = parse_number(key, value, "", where);
  } else if (key == "ways") {
    geometry.ways = parse_number(key, value, "full", where);
  } else if (key == "sector") {
    geometry.sector_bytes = parse_number(key, value, "line", where);
  } else {
    const std::string near = nearest(key, {"line", "ways", "sector"});
    usage("unknown key of a cache", where, fmt::format("'{}'", key),
          "line=, ways= or sector=", near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
}

/// The nearest divisors of `lines` around `ways`: "4 or 8 ways", "63 ways". O(sqrt(lines)).
std::string nearest_ways(std::uint64_t lines, std::uint64_t ways) {
  std::uint64_t below = 1, above = lines;
  for (std::uint64_t one = 1; one * one <= lines; ++one) {
    if (lines % one != 0) {
      continue;
    }
    for (const std::uint64_t divisor : {one, lines / one}) {
      below = divisor < ways ? std::max(below, divisor) : below;
      above = divisor > ways ? std::min(above, divisor) : above;
    }
  }
  return below == lines ? fmt::format("{} {}", lines, noun(lines, "way")) : fmt::format("{} or {} ways", below, above);
}

}  // namespace

void check(const CacheGeometry& geometry, const std::string& where) {
  if (geometry.bytes == 0) {
    return;
  }
  const std::uint32_t line = geometry.line_bytes;
  if (!std::has_single_bit(line) || line < kMinLine || line > kMaxLine) {
    usage("the line size of a cache does not fit", where, fmt::format("{} bytes", line),
          fmt::format("a power of two, {} to {}", kMinLine, kMaxLine));
  }
  const std::uint32_t sector = geometry.sector();
  if (!std::has_single_bit(sector) || sector < kMinLine || sector > line || line / sector > kMaxSectors) {
    usage("the sector size of a cache does not fit", where, fmt::format("{} bytes, lines of {}", sector, line),
          fmt::format("a power of two, {} to {}", std::max(line / kMaxSectors, kMinLine), line));
  }
  if (geometry.bytes % line != 0) {
    usage("the size of a cache is not a number of lines", where,
          fmt::format("{} bytes, lines of {}", geometry.bytes, line), "a multiple of the line size");
  }
  if (geometry.lines() >= kLinesLimit) {
    usage("the cache has too many lines", where, fmt::format("{}", geometry.lines()), "less than 2^31");
  }
  if (geometry.lines() % geometry.associativity() != 0) {
    usage("the ways of a cache do not divide its lines", where,
          counted(geometry.ways, "way") + ", " + counted(geometry.lines(), "line"), "a divisor of the number of lines",
          fmt::format("nearest: {}; or fully associative: ways = 0 in experiments and machines, ways=full in --l1 and "
                      "--l2",
                      nearest_ways(geometry.lines(), geometry.ways)));
  }
}

CacheGeometry parse_geometry(const std::string& text, const CacheGeometry& base, const std::string& where) {
  CacheGeometry geometry = base;
  if (text == "none") {
    geometry.bytes = 0;
    return geometry;
  }
  std::string_view rest = text;
  const std::size_t colon = rest.find(':');
  if (const std::string_view size = rest.substr(0, colon); size.find('=') == std::string_view::npos) {
    geometry.bytes = parse_size(size, where);
    if (colon == std::string_view::npos) {
      check(geometry, where);
      return geometry;
    }
    rest.remove_prefix(colon + 1);
  }
  std::vector<std::string> seen;
  for (const std::string& item : list_items(rest, ',')) {
    set_key(geometry, item, seen, where);
  }
  check(geometry, where);
  return geometry;
}

std::string to_string(const CacheGeometry& geometry) {
  if (geometry.bytes == 0) {
    return "none";
  }
  return fmt::format("{}:line={},ways={},sector={}", size_text(geometry.bytes), geometry.line_bytes,
                     geometry.ways == 0 ? "full" : fmt::format("{}", geometry.ways),
                     geometry.sector_bytes == 0 ? "line" : fmt::format("{}", geometry.sector_bytes));
}

}  // namespace rayreplay::memory
