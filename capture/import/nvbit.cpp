#include "capture/import/nvbit.hpp"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/import/forms.hpp"
#include "capture/import/line_source.hpp"

namespace rayreplay::import {
namespace {

constexpr std::uint32_t kLanes = 32;
constexpr std::uint32_t kWarpsOfBlock = 64;  // above the limit of a block
constexpr std::string_view kTag = "MEMTRACE: ";
constexpr const char* kForm =
    "'MEMTRACE: CTX 0x… - grid_launch_id N - CTA X,Y,Z - warp W - OPCODE - ' and 32 addresses";

enum class Space : std::uint8_t { Global, Shared, Local, Unknown };

struct Opcode {
  Space space = Space::Unknown;
  bool store = false;
};

Opcode classify(std::string_view stem) {
  if (stem == "LD" || stem == "LDG" || stem == "LDGSTS") {
    return {Space::Global, false};
  }
  if (stem == "ST" || stem == "STG" || stem == "RED" || stem == "REDG" || stem == "ATOM" || stem == "ATOMG") {
    return {Space::Global, true};
  }
  if (stem == "LDS" || stem == "STS" || stem == "ATOMS" || stem == "LDSM" || stem == "STSM") {
    return {Space::Shared, false};
  }
  if (stem == "LDL" || stem == "STL") {
    return {Space::Local, false};
  }
  return {};
}

/// By the modifiers after the first dot.
std::uint32_t size_of(std::string_view opcode) {
  while (!opcode.empty()) {
    const std::size_t dot = opcode.find('.');
    const std::string_view part = opcode.substr(0, dot);
    opcode.remove_prefix(dot == std::string_view::npos ? opcode.size() : dot + 1);
    if (part == "U8" || part == "S8") {
      return 1;
    }
    if (part == "U16" || part == "S16" || part == "16") {
      return 2;
    }
    if (part == "64" || part == "F64") {
      return 8;
    }
    if (part == "128") {
      return 16;
    }
    if (part == "256") {
      return 32;
    }
  }
  return 4;
}

struct Triple {
  std::uint64_t x = 0, y = 0, z = 0;
};

std::optional<Triple> parse_triple(std::string_view text) {
  std::array<std::uint64_t, 3> numbers{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t comma = text.find(',');
    const auto number = parse_number(text.substr(0, comma));
    if ((comma == std::string_view::npos) != (i == 2) || !number || *number > 0xFFFFFFFF) {
      return {};
    }
    numbers[i] = *number;
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return Triple{numbers[0], numbers[1], numbers[2]};
}

/// The text after `label` up to the next " - ".
std::optional<std::string_view> field(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) {
    return {};
  }
  text.remove_prefix(at + label.size());
  return text.substr(0, text.find(" - "));
}

class Reader final : public NvbitReader {
 public:
  Reader(const std::string& path, const TraceHeader& header, const WaitNotice& on_wait)
      : lines_(std::make_unique<ByteSource>(path, on_wait)), header_(header) {
    check(header, path);
    if (header.warp_size != kLanes) {
      throw Error(ErrorKind::Input, {"mem_trace prints warps of 32 lanes", path,
                                     fmt::format("warp size {} in the header", header.warp_size), "32",
                                     "leave 'warp-size' out of the header"});
    }
  }

  [[nodiscard]] const TraceHeader& header() const override {
    return header_;
  }

  bool next(RecordBlock& block) override {
    block.clear();
    std::string_view line;
    while (block.records() < kMaxBlockRecords && lines_.next(line)) {
      const std::size_t at = line.find(kTag);
      if (at == std::string_view::npos) {
        ++tally_.other_lines;
        continue;
      }
      if (!lines_.terminated()) {
        lines_.fail("the output of mem_trace is truncated: its last line has no line feed", quoted(line), kForm,
                    "run it again, or remove that line");
      }
      ++tally_.tool_lines;
      line.remove_prefix(at + kTag.size());
      if (line.find(" - LAUNCH - ") != std::string_view::npos) {
        read_launch(line);
      } else {
        read_access(line, block);
      }
    }
    if (block.records() == 0 && tally_.tool_lines == 0) {
      throw Error(ErrorKind::Input,
                  {"this is not the output of mem_trace: no line of it is of that tool", lines_.bytes().name(),
                   fmt::format("{} lines, none with '{}'", tally_.other_lines, kTag.substr(0, kTag.size() - 1)), kForm,
                   "give the text that the tool printed; a memory trace is read without --nvbit"});
    }
    return block.records() > 0;
  }

  [[nodiscard]] std::string hash() const override {
    return lines_.bytes().hash();
  }
  [[nodiscard]] const NvbitTally& tally() const override {
    return tally_;
  }

 private:
  void read_launch(std::string_view line) {
    const auto id = field(line, "grid launch id ");
    const auto number = id ? parse_number(*id) : std::nullopt;
    if (!number) {
      lines_.fail("a launch has no number", quoted(line), "'grid launch id N'",
                  "docs/memory-traces.md says which versions are read");
    }
    const auto size = field(line, "grid size ");
    const auto grid = size ? parse_triple(*size) : std::nullopt;
    if (size && !grid) {
      lines_.fail("the size of a grid is not three numbers", quoted(*size), "'grid size X,Y,Z'",
                  "docs/memory-traces.md says which versions are read");
    }
    if (grid) {
      grids_[*number] = *grid;
    }
    ++tally_.launches;
  }

  [[noreturn]] void malformed(std::string_view line) const {
    lines_.fail("this is not a line of mem_trace", quoted(line), kForm,
                "docs/memory-traces.md says which versions are read");
  }

  std::uint64_t block_number(std::uint64_t launch, const Triple& block) const {
    const auto grid = grids_.find(launch);
    if (grid != grids_.end()) {
      return block.x + grid->second.x * (block.y + grid->second.y * block.z);
    }
    if (block.y != 0 || block.z != 0) {
      lines_.fail("how large the grid is, is not known", fmt::format("block {},{},{}", block.x, block.y, block.z),
                  "a LAUNCH line with 'grid size' before it", "keep the whole output of mem_trace");
    }
    return block.x;
  }

  void read_access(std::string_view line, RecordBlock& block) {
    const auto launch_text = field(line, " - grid_launch_id ");
    const auto cta_text = field(line, " - CTA ");
    const auto warp_text = field(line, " - warp ");
    if (!launch_text || !cta_text || !warp_text) {
      malformed(line);
    }
    const auto launch = parse_number(*launch_text);
    const auto cta = parse_triple(*cta_text);
    const auto warp = parse_number(*warp_text);
    std::string_view rest = line;
    rest.remove_prefix(static_cast<std::size_t>(warp_text->data() + warp_text->size() - line.data()));
    const std::size_t opcode_end = rest.size() > 3 ? rest.find(" - ", 3) : std::string_view::npos;
    if (!launch || !cta || !warp || opcode_end == std::string_view::npos) {
      malformed(line);
    }
    const std::string_view opcode = rest.substr(3, opcode_end - 3);
    rest.remove_prefix(opcode_end + 3);
    const std::size_t dot = std::min(opcode.find('.'), opcode.size());
    const std::string_view stem = opcode.substr(0, dot);
    const Opcode kind = classify(stem);
    switch (kind.space) {
      case Space::Global:
        break;
      case Space::Shared:
        ++tally_.shared;
        return;
      case Space::Local:
        ++tally_.local;
        return;
      case Space::Unknown:
        ++tally_.unknown[quoted(stem)];
        return;
    }
    std::array<std::uint64_t, kLanes> addresses{};
    std::uint64_t mask = 0;
    std::size_t active = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const std::string_view word = take_word(rest);
      const auto address = parse_number(word);
      if (!address) {
        lines_.fail("an address is missing or not a number", word.empty() ? "the end of the line" : quoted(word),
                    "32 addresses, 0 for lanes that do not take part",
                    "the program may have printed into the line: send its own output elsewhere");
      }
      if (*address != 0) {
        mask |= std::uint64_t{1} << lane;
        addresses[active++] = *address;
      }
    }
    if (!take_word(rest).empty()) {
      malformed(line);
    }
    if (mask == 0) {
      ++tally_.idle;
      return;
    }
    tally_.zero_lanes += kLanes - active;
    const std::uint64_t number = block_number(*launch, *cta);
    block.add(static_cast<std::uint16_t>(number % header_.sms),
              static_cast<std::uint32_t>(number * kWarpsOfBlock + *warp % kWarpsOfBlock), kind.store, size_of(opcode),
              mask, addresses.data());
    check_row(header_, block, block.records() - 1, [&] { return lines_.where(); });
  }

  LineSource lines_;
  TraceHeader header_;
  NvbitTally tally_;
  std::map<std::uint64_t, Triple> grids_;  ///< by launch
};

}  // namespace

std::unique_ptr<NvbitReader> open_nvbit_trace(const std::string& path, const TraceHeader& header) {
  return open_nvbit_trace(path, header, {});
}

std::unique_ptr<NvbitReader> open_nvbit_trace(const std::string& path, const TraceHeader& header,
                                              const WaitNotice& on_wait) {
  return std::make_unique<Reader>(path, header, on_wait);
}

}  // namespace rayreplay::import
