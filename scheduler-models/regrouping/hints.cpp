#include "scheduler-models/regrouping/hints.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/parameters.hpp"
#include "scheduler-models/regrouping/hints/formula_hints.hpp"

namespace rayreplay::scheduler {
namespace {

using Range = oneapi::tbb::blocked_range<std::size_t>;

constexpr std::size_t kThreadsAPiece = 4096;

std::string owner_of(std::string_view name) {
  return fmt::format("hint '{}'", name);
}

bool is_name(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

bool is_reserved(std::string_view name) {
  return name == "none" || name == "captured" || name == "auto";
}

/// Splits "NAME:BITS=TEXT". `option` and `form` appear in messages.
std::pair<std::string, HintSource> split_hint(std::string_view text, const char* option, const char* form) {
  const auto fail = [&](const char* what, std::string_view found, const std::string& expected) {
    throw Error(ErrorKind::Usage, {what, option, fmt::format("'{}'", found), expected, ""});
  };
  const std::size_t colon = text.find(':');
  const std::size_t equals = text.find('=');
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals < colon) {
    fail("the hint is not of the form NAME:BITS=VALUE", text, form);
  }
  const std::string_view name = text.substr(0, colon);
  if (!is_name(name)) {
    fail("the hint's name is not valid", name, "a lower-case letter, then lower-case letters, digits, '_' and '-'");
  }
  if (is_reserved(name)) {
    fail("the hint's name is reserved", name, "another name than none, captured and auto");
  }
  const std::string_view bits = text.substr(colon + 1, equals - colon - 1);
  HintSource source;
  const auto read = std::from_chars(bits.data(), bits.data() + bits.size(), source.bits);
  if (read.ec != std::errc() || read.ptr != bits.data() + bits.size() || source.bits < 1 ||
      source.bits > kMaxHintBits) {
    fail("the hint's number of bits is out of range", bits, fmt::format("1 to {}", kMaxHintBits));
  }
  source.text = std::string(text.substr(equals + 1));
  return {std::string(name), std::move(source)};
}

/// Calls value(pending call, segment's value) for every pending call. Returns the lowest segment for which it returns
/// false, or kNoSegment.
template <class Value>
std::uint32_t fill(const trace::Launch& launch, const Segments& segments, trace::Column<std::uint32_t>& out,
                   const Value& value) {
  out.resize(segments.size());
  std::atomic<std::uint32_t> first_bad{kNoSegment};
  oneapi::tbb::parallel_for(Range(0, launch.data.threads(), kThreadsAPiece), [&](const Range& range) {
    std::fill(out.begin() + segments.first[range.begin()], out.begin() + segments.first[range.end()], 0U);
    formula::for_each_pending(launch, segments, range.begin(), range.end(), [&](const formula::PendingCall& call) {
      if (!value(call, out[call.segment])) {
        std::uint32_t seen = first_bad.load();
        while (call.segment < seen && !first_bad.compare_exchange_weak(seen, call.segment)) {
        }
      }
    });
  });
  return first_bad.load();
}

Hints captured_hints(const trace::Launch& launch, const Segments& segments, std::uint32_t bits) {
  const trace::Rays& rays = launch.data.rays;
  Hints hints;
  hints.bits = bits;
  static_cast<void>(fill(launch, segments, hints.value, [&](const formula::PendingCall& call, std::uint32_t& out) {
    const std::uint32_t given = std::min<std::uint32_t>(rays.hint_bits[call.ray], kMaxHintBits);
    const std::uint64_t value = rays.hint[call.ray] & ((std::uint64_t{1} << given) - 1);
    out = static_cast<std::uint32_t>(given > bits ? value >> (given - bits) : value << (bits - given));
    return true;
  }));
  return hints;
}

std::uint32_t widest_hint(const trace::Launch& launch) {
  const auto& bits = launch.data.rays.hint_bits;
  return bits.empty() ? 0 : std::min<std::uint32_t>(*std::max_element(bits.begin(), bits.end()), kMaxHintBits);
}

void require_captured(const trace::Launch& launch) {
  if (launch.data.rays.hint.empty()) {
    throw Error(ErrorKind::Missing,
                {"the trace has no coherence hints", "hint 'captured'", "rays without them",
                 "a trace of an application that makes reorder calls (SER)",
                 "capture such an application, or give a hint of your own with --hint NAME:BITS=FORMULA"});
  }
}

std::vector<std::uint32_t> read_hint_file(const std::string& path, std::uint64_t rays, const std::string& owner) {
  const std::string noun = "hint file for " + owner;
  const std::uint64_t size = open_input(path, noun).bytes;
  if (size != rays * sizeof(std::uint32_t)) {
    throw Error(ErrorKind::Input,
                {"the hint file is not of this launch's size", path, fmt::format("{} bytes", size),
                 fmt::format("{} bytes: a little-endian uint32 for each of the launch's {} rays",
                             rays * sizeof(std::uint32_t), rays),
                 "write one number per ray, in the order of the trace; with numpy: astype('<u4').tofile(…)"});
  }
  const std::string bytes = read_text_file(path, size, noun);
  if (bytes.size() != size) {
    throw Error(ErrorKind::Input,
                {"the hint file cannot be read to its end", path, "", fmt::format("{} bytes", size), ""});
  }
  std::vector<std::uint32_t> values(rays);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t byte = 0; byte < sizeof(std::uint32_t); ++byte) {
      values[i] |= std::uint32_t{static_cast<unsigned char>(bytes[sizeof(std::uint32_t) * i + byte])} << (8 * byte);
    }
  }
  return values;
}

Hints file_hints(const trace::Launch& launch, const Segments& segments, const HintSource& source,
                 const std::string& owner) {
  const std::vector<std::uint32_t> values = read_hint_file(source.text, launch.data.rays.size(), owner);
  const std::uint64_t limit = std::uint64_t{1} << source.bits;
  Hints hints;
  hints.bits = source.bits;
  const std::uint32_t bad =
      fill(launch, segments, hints.value, [&](const formula::PendingCall& call, std::uint32_t& out) {
        out = values[call.ray];
        return out < limit;
      });
  if (bad != kNoSegment) {
    const auto thread = static_cast<std::size_t>(std::upper_bound(segments.first.begin(), segments.first.end(), bad) -
                                                 segments.first.begin() - 1);
    std::uint64_t ray = 0;
    formula::for_each_pending(launch, segments, thread, thread + 1,
                              [&](const formula::PendingCall& call) { ray = call.segment == bad ? call.ray : ray; });
    const std::uint32_t most = *std::max_element(hints.value.begin(), hints.value.end());
    throw Error(ErrorKind::Input, {"the hint does not fit " + counted(source.bits, "bit"),
                                   fmt::format("{}[{}], {}, thread {}, ray {}", source.text, ray, owner, thread,
                                               ray - launch.data.ray_offset[thread]),
                                   fmt::format("{}", hints.value[bad]), fmt::format("0 to {}", limit - 1),
                                   fmt::format("take {} bits, or write smaller numbers", std::bit_width(most))});
  }
  return hints;
}

Hints expression_hints(const trace::Trace& trace, const trace::Launch& launch, const Segments& segments,
                       const HintSource& source, const std::string& owner) {
  const formula::Expression expression = formula::parse_expression(source.text, owner);
  const formula::FieldReader fields(trace, launch, segments, expression.fields);
  formula::FormulaHints made = formula::hints_of(fields, expression, source.bits);
  if (made.first_bad != kNoSegment) {
    formula::refuse(fields, expression, source.bits, made.first_bad, owner);
  }
  return {source.bits, std::move(made.value)};
}

const HintSource& find_source(std::string_view name, const HintSources& sources) {
  const auto found = sources.find(name);
  if (found == sources.end()) {
    std::vector<std::string> known = {"none", "captured", "auto"};
    for (const auto& [other, source] : sources) {
      known.push_back(other);
    }
    const std::string near = nearest(name, known);
    throw Error(ErrorKind::Usage,
                {"unknown hint", "", fmt::format("'{}'", name), fmt::format("one of {}", fmt::join(known, ", ")),
                 near.empty() ? "define it with --hint NAME:BITS=FORMULA or --hint-file NAME:BITS=FILE"
                              : "did you mean '" + near + "'?"});
  }
  return found->second;
}

void check_bits(std::uint32_t bits, const std::string& owner) {
  if (bits < 1 || bits > kMaxHintBits) {
    throw Error(ErrorKind::Usage, {"the hint's number of bits is out of range", owner, std::to_string(bits),
                                   fmt::format("1 to {}", kMaxHintBits), ""});
  }
}

}  // namespace

std::pair<std::string, HintSource> parse_hint(std::string_view text) {
  auto result = split_hint(text, "--hint", "NAME:BITS=FORMULA, as in material:4=material%16");
  result.second.origin = HintOrigin::Expression;
  static_cast<void>(formula::parse_expression(result.second.text, owner_of(result.first)));
  return result;
}

std::pair<std::string, HintSource> parse_hint_file(std::string_view text) {
  auto result = split_hint(text, "--hint-file", "NAME:BITS=FILE, as in mine:8=hints.bin");
  result.second.origin = HintOrigin::File;
  if (result.second.text.empty()) {
    throw Error(ErrorKind::Usage, {"no file is named", "--hint-file", fmt::format("'{}'", text), "NAME:BITS=FILE", ""});
  }
  return result;
}

HintPlace find_hints(const trace::Launch& launch, std::string_view name, const HintSources& sources) {
  const bool captured = !launch.data.rays.hint.empty();
  if (name == "none" || (name == "auto" && !captured)) {
    return {};
  }
  if (name == "captured" || name == "auto") {
    require_captured(launch);
    return {HintPlace::From::Captured, 0};
  }
  const HintSource& source = find_source(name, sources);
  check_bits(source.bits, owner_of(name));
  if (source.ready != nullptr || source.origin != HintOrigin::Captured) {
    return {HintPlace::From::Made, source.bits};
  }
  require_captured(launch);
  return {HintPlace::From::Captured, source.bits};
}

Hints make_hints(const trace::Trace& trace, const trace::Launch& launch, const Segments& segments,
                 std::string_view name, const HintSources& sources) {
  const HintPlace place = find_hints(launch, name, sources);
  if (place.from == HintPlace::From::Nowhere) {
    return {};
  }
  if (place.from == HintPlace::From::Captured) {
    const std::uint32_t bits = place.bits == 0 ? widest_hint(launch) : place.bits;
    return bits == 0 ? Hints{} : captured_hints(launch, segments, bits);
  }
  const HintSource& source = find_source(name, sources);
  if (source.ready != nullptr) {
    return *source.ready;
  }
  return source.origin == HintOrigin::File ? file_hints(launch, segments, source, owner_of(name))
                                           : expression_hints(trace, launch, segments, source, owner_of(name));
}

}  // namespace rayreplay::scheduler
