// Flags that set several keys at once: `set_shorthand`.
#include <cstdint>
#include <utility>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kDashes = "--";

/// Sets the cache of the machine, which decides latencies, and the analysed cache.
void set_both(Settings& settings, const std::string& level, const std::string& part, std::uint64_t value,
              const std::string& where) {
  settings.set("machine." + level + "_" + part, static_cast<std::int64_t>(value), where);
  settings.set("cache." + level + "." + part, static_cast<std::int64_t>(value), where);
}

}  // namespace

void set_shorthand(Settings& settings, const Shorthand& shorthand, const std::string& text) {
  const std::string level = shorthand.flag.substr(kDashes.size());
  const Settings full = complete(settings, NamedInput::Elsewhere);
  const auto known = [&](const std::string& part) {
    return static_cast<std::uint32_t>(full.integer("cache." + level + "." + part));
  };
  const memory::CacheGeometry base{static_cast<std::uint64_t>(full.integer("cache." + level + ".bytes")),
                                   known("line_bytes"), known("ways"), known("sector_bytes")};
  const memory::CacheGeometry geometry = memory::parse_geometry(text, base, shorthand.flag);
  set_both(settings, level, "bytes", geometry.bytes, shorthand.flag);
  if (geometry.bytes > 0) {
    set_both(settings, level, "line_bytes", geometry.line_bytes, shorthand.flag);
    set_both(settings, level, "ways", geometry.ways, shorthand.flag);
    set_both(settings, level, "sector_bytes", geometry.sector(), shorthand.flag);
  }
}

}  // namespace rayreplay::experiment
