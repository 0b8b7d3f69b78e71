// rayreplay instrument: adds recording to the ray-tracing shaders of a SPIR-V module.
#include "capture/instrument/instrument.hpp"
#include "base/count_text.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/commands/capture/insert_ser.hpp"
#include "app/commands/capture/module_file.hpp"
#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "capture/instrument/ser/insert.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint64_t kControlAlignment = 256;

struct InstrumentArguments {
  std::string path;
  std::string events = "0x100000000";
  std::string events_words = "0x10000000";
  std::string control = "0x200000000";
  std::uint32_t first_shader = 0;
  std::uint32_t every = 1;
  std::string window;
  std::string opacity;
  std::string ray_flags;
  std::uint32_t ray_flags_threads = 1U << 24;
  std::string swizzle;
  std::string swizzle_size;
  std::string insert_ser = "off";
  bool no_record = false, clock = false, sm = false, wide = false, gate = false, observe_all = false;
  FormatOption format;
  OutputOption output;
};

/// Decimal, or hexadecimal after 0x.
std::uint64_t number(std::string_view text, std::string_view option, std::uint64_t alignment = 1) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw Error(ErrorKind::Usage, {"the value is not a whole number of 64 bits", std::string(option),
                                   fmt::format("'{}'", text), "decimal digits, or 0x and hexadecimal ones", ""});
  }
  if (value % alignment != 0) {
    throw Error(ErrorKind::Usage, {"the address is not aligned", std::string(option), fmt::format("'{}'", text),
                                   fmt::format("a multiple of {}", alignment), ""});
  }
  return value;
}

instrument::Window parse_window(const std::string& text) {
  std::array<std::uint32_t, 4> values{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  bool good = true;
  for (std::size_t i = 0; i < values.size() && good; ++i) {
    const auto [next, error] = std::from_chars(at, end, values[i]);
    const bool last = i + 1 == values.size();
    good = error == std::errc() && (last ? next == end : next != end && *next == ',');
    at = last || !good ? next : next + 1;
  }
  if (!good) {
    throw Error(ErrorKind::Usage,
                {"the window is not understood", "--window", "'" + text + "'", "X,Y,WIDTH,HEIGHT in threads", ""});
  }
  return {values[0], values[1], values[2], values[3]};
}

instrument::Options resolve(const InstrumentArguments& options) {
  instrument::Options result;
  result.record = !options.no_record;
  result.events_address = number(options.events, "--events", 4);
  result.events_words = number(options.events_words, "--events-words");
  result.control_address = number(options.control, "--control", kControlAlignment);
  result.first_shader_id = static_cast<std::uint16_t>(options.first_shader);
  result.clock = options.clock;
  result.sm = options.sm;
  result.wide_subgroups = options.wide;
  result.gate = options.gate;
  result.every = options.every;
  result.observe_all = options.observe_all;
  if (!options.window.empty()) {
    result.window = parse_window(options.window);
  }
  if (!options.opacity.empty()) {
    if (!options.observe_all) {
      throw Error(ErrorKind::Usage, {"an opacity table is for --observe-all", "--opacity", "", "--observe-all", ""});
    }
    result.opacity_address = number(options.opacity, "--opacity", 4);
  }
  if (!options.ray_flags.empty()) {
    if (!options.observe_all) {
      throw Error(ErrorKind::Usage, {"ray flags are kept for --observe-all", "--ray-flags", "", "--observe-all", ""});
    }
    result.ray_flags_address = number(options.ray_flags, "--ray-flags", 4);
    result.ray_flags_threads = options.ray_flags_threads;
  }
  if (options.swizzle.empty() != options.swizzle_size.empty()) {
    throw Error(ErrorKind::Usage,
                {"a swizzle needs its table and its size", options.swizzle.empty() ? "--swizzle-size" : "--swizzle",
                 "one of them", "both --swizzle ADDRESS and --swizzle-size WxH", ""});
  }
  if (!options.swizzle.empty()) {
    const trace::LaunchSize size = parse_size(options.swizzle_size, "--swizzle-size");
    result.swizzle =
        instrument::SwizzleTable{number(options.swizzle, "--swizzle", 4), size.width, size.height, size.depth};
  }
  return result;
}

/// Puts reorder calls into the module first, where that is asked for.
instrument::InsertResult insert_ser(const InstrumentArguments& options, std::span<const std::uint32_t> words) {
  const std::string setting = ser_setting(options.insert_ser);
  std::string reason;
  return setting == "off"
             ? instrument::InsertResult{}
             : instrument::insert_reordering(
                   words, setting == "none" ? std::nullopt : instrument::parse_hint_program(setting, reason));
}

std::string_view stage_name(instrument::Stage stage) {
  constexpr std::array<std::string_view, 6> kNames = {"ray_generation", "intersection", "any_hit",
                                                      "closest_hit",    "miss",         "callable"};
  return kNames[static_cast<std::size_t>(stage)];
}

nlohmann::ordered_json to_json(const InstrumentArguments& options, const instrument::Result& result,
                               std::size_t words_before, std::uint32_t inserted) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const instrument::EntryPoint& entry : result.entry_points) {
    entries.push_back({{"shader", entry.shader}, {"stage", stage_name(entry.stage)}, {"name", entry.name}});
  }
  nlohmann::ordered_json sites = nlohmann::ordered_json::array();
  for (const instrument::TraceSite& site : result.sites) {
    nlohmann::ordered_json item = {
        {"shader", site.shader}, {"site", site.site}, {"set", nullptr}, {"binding", nullptr}};
    if (site.bound) {
      item["set"] = site.set;
      item["binding"] = site.binding;
    }
    sites.push_back(item);
  }
  const bool changed = result.status == instrument::Status::Instrumented || inserted != 0;
  return {{"schema", "rayreplay.instrument/1"},
          {"file", options.path},
          {"output", options.output.path},
          {"instrumented", changed},
          {"words_before", words_before},
          {"words", changed ? result.spirv.size() : words_before},
          {"entry_points", entries},
          {"trace_sites", sites},
          {"reordering_trace_calls", inserted},
          {"notes", result.notes}};
}

void report(const InstrumentArguments& options, const instrument::Result& result, std::size_t words_before,
            std::uint32_t inserted) {
  for (const instrument::EntryPoint& entry : result.entry_points) {
    std::vector<std::string> sites;
    for (const instrument::TraceSite& site : result.sites) {
      if (site.shader == entry.shader) {
        sites.push_back(site.bound ? fmt::format("{} (set {}, binding {})", site.site, site.set, site.binding)
                                   : fmt::format("{} (no descriptor)", site.site));
      }
    }
    console::tell("shader {}: {} '{}'{}", entry.shader, stage_name(entry.stage), entry.name,
                  sites.empty() ? "" : fmt::format(", trace calls {}", fmt::join(sites, ", ")));
  }
  for (const std::string& note : result.notes) {
    console::note("{}", note);
  }
  if (inserted != 0) {
    console::tell("threads are reordered behind {}", counted(inserted, "trace call"));
  }
  console::log(result.status == instrument::Status::Instrumented || inserted != 0
                   ? fmt::format("rayreplay: wrote {}: {}, {} before", options.output.path,
                                 counted(result.spirv.size(), "word"), words_before)
                   : fmt::format("rayreplay: wrote {}: unchanged, as it has {}", options.output.path,
                                 result.entry_points.empty() ? "no ray-tracing entry point"
                                                             : "nothing that the options ask for"));
}

int act(const InstrumentArguments& options) {
  const bool json = options.format.format() == output::Format::Json;
  if (options.format.format() == output::Format::Csv) {
    throw Error(ErrorKind::Usage, {"no table to print", "--format", "'csv'", "table or json", ""});
  }
  if (json && options.output.path == "-") {
    throw Error(ErrorKind::Usage, {"the module and the JSON would both go to standard output", "--output", "'-'",
                                   "a file", "give -o a file name"});
  }
  const instrument::Options resolved = resolve(options);
  require_distinct({{"--output", options.output.path}}, {{"the module", options.path}});
  options.output.check();
  const std::vector<std::uint32_t> words = read_module_file(options.path);
  const instrument::InsertResult inserted = insert_ser(options, words);
  const std::vector<std::uint32_t>& given = inserted.inserted == 0 ? words : inserted.spirv;
  instrument::Result result = instrument::instrument(given, resolved);
  if (result.status == instrument::Status::Refused) {
    throw Error(ErrorKind::Input, {"the module cannot be instrumented", options.path, result.reason,
                                   "a valid SPIR-V 1.x module for Vulkan", "check it with spirv-val"});
  }
  result.notes.insert(result.notes.begin(), inserted.notes.begin(), inserted.notes.end());
  if (result.status == instrument::Status::Unchanged) {
    result.spirv = given;
  }
  const std::vector<std::uint32_t>& out = result.spirv;
  std::string bytes(out.size() * sizeof(std::uint32_t), '\0');
  if (!out.empty()) {
    std::memcpy(bytes.data(), out.data(), bytes.size());
  }
  options.output.write(bytes);
  if (json) {
    console::print(json_text(to_json(options, result, words.size(), inserted.inserted), 2) + "\n");
  } else {
    report(options, result, words.size(), inserted.inserted);
  }
  return 0;
}

void add_options(CLI::App& command, InstrumentArguments& o) {
  constexpr const char* kRecords = "Records";
  constexpr const char* kSampling = "Sampling";
  constexpr const char* kChanges = "Changes";
  command.add_option("MODULE", o.path, "SPIR-V module (binary)")->required();
  const auto text = [&](const char* name, std::string& value, const char* type, const char* help, const char* group) {
    add_value(command, name, value, type, help, group);
  };
  text("--events", o.events, "ADDRESS", "Device address of the event buffer", kRecords);
  text("--events-words", o.events_words, "N", "Its capacity in 32-bit words", kRecords);
  text("--control", o.control, "ADDRESS", "Device address of the control block", kRecords);
  add_value(command, "--first-shader", o.first_shader, "N", "Id of the first entry point", kRecords)
      ->check(CLI::Range(0U, 0xFFFFU));
  command.add_flag("--clock", o.clock, "Record the device clock (shaderDeviceClock)")->group(kRecords);
  command.add_flag("--sm", o.sm, "Record SM and warp (VK_NV_shader_sm_builtins)")->group(kRecords);
  command.add_flag("--wide", o.wide, "Subgroups may have more than 32 lanes")->group(kRecords);
  command.add_flag("--no-record", o.no_record, "No records: only what --swizzle and --observe-all change")
      ->group(kRecords);
  command.add_flag("--gate", o.gate, "Record only while the control block's gate is open")->group(kSampling);
  text("--window", o.window, "X,Y,W,H", "Record only threads inside", kSampling);
  add_value(command, "--every", o.every, "N", "Record only threads whose id is a multiple of N", kSampling)
      ->check(CLI::Range(1U, 0xFFFFFFFFU));
  command.add_flag("--observe-all", o.observe_all, "Trace calls get NoOpaque in place of Opaque")->group(kChanges);
  text("--opacity", o.opacity, "ADDRESS", "Opacity table, where the application has any-hit shaders", kChanges);
  text("--ray-flags", o.ray_flags, "ADDRESS", "A word of each thread for the application's ray flags", kChanges);
  add_value(command, "--ray-flags-threads", o.ray_flags_threads, "N", "Number of these words", kChanges)
      ->check(CLI::Range(1U, 0xFFFFFFFFU));
  command
      .add_flag("--insert-ser{none}", o.insert_ser,
                "Trace calls of ray-generation shaders reorder threads by their hits; BITS=FORMULA: by a hint, too")
      ->type_name("[=HINT]")
      ->group(kChanges);
  text("--swizzle", o.swizzle, "ADDRESS", "Table that replaces the launch id", kChanges);
  text("--swizzle-size", o.swizzle_size, "WxH", "Launch size of that table", kChanges);
}

void declare(CLI::App& command, InstrumentArguments& options) {
  add_options(command, options);
  options.format.add_to(command);
  options.output.add_required_to(command, "Module to write");
}

}  // namespace

void add_instrument_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"instrument", "Capture", "Rewrite a SPIR-V module so that its ray-tracing shaders record what they do"},
              declare, act);
}

}  // namespace rayreplay::app
