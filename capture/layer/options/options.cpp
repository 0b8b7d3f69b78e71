#include "capture/layer/options/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "capture/instrument/counter_layout.hpp"
#include "capture/spool/guest_files.hpp"

namespace rayreplay::layer {
namespace {

constexpr std::string_view kSettingsPrefix = "rayreplay_capture.";
constexpr const char* kSettingsVariable = "RAYREPLAY_CAPTURE_SETTINGS";
constexpr const char* kSettingsFile = "vk_layer_settings.txt";
constexpr std::uint64_t kMaxSettings = std::uint64_t{1} << 20U;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

template <typename Integer>
std::optional<Integer> parse_integer(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

/// "a<separator>b…" as `count` integers, or fewer if `least` allows it.
std::optional<std::array<std::uint32_t, 4>> parse_list(std::string_view text, char separator, std::size_t least,
                                                       std::size_t most) {
  std::array<std::uint32_t, 4> values{0, 0, 1, 1};
  std::size_t count = 0;
  for (;;) {
    const auto end = text.find(separator);
    const auto value = parse_integer<std::uint32_t>(text.substr(0, end));
    if (!value || count == most) {
      return std::nullopt;
    }
    values.at(count++) = *value;
    if (end == std::string_view::npos) {
      break;
    }
    text.remove_prefix(end + 1);
  }
  if (count < least) {
    return std::nullopt;
  }
  return values;
}

std::optional<bool> parse_switch(std::string_view text) {
  for (const auto* yes : {"1", "on", "true", "yes"}) {
    if (text == yes) {
      return true;
    }
  }
  for (const auto* no : {"0", "off", "false", "no"}) {
    if (text == no) {
      return false;
    }
  }
  return std::nullopt;
}

template <typename Target, typename Value>
bool store(Target& target, const std::optional<Value>& value) {
  if (!value) {
    return false;
  }
  target = *value;
  return true;
}

void read_settings(Options& options, const std::string& path, bool named) {
  std::string why;
  const auto content = spool::read_regular(path, kMaxSettings, why);
  if (!content) {
    // The default file need not be there.
    if (named || access(path.c_str(), F_OK) == 0) {
      options.problems.push_back("settings file " + path + " is not read: " + why);
    }
    return;
  }
  for (std::string_view rest = *content; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const auto text = trimmed(line.substr(0, line.find('#')));
    if (!text.starts_with(kSettingsPrefix)) {
      continue;
    }
    const auto equals = text.find('=');
    const auto name = trimmed(text.substr(kSettingsPrefix.size(), equals - kSettingsPrefix.size()));
    const auto value = equals == std::string_view::npos ? std::string_view{} : trimmed(text.substr(equals + 1));
    if (!set_option(options, name, value)) {
      options.problems.push_back(path + ": '" + std::string(text) + "' is no option with a readable value");
    }
  }
}

}  // namespace

const std::vector<Option>& option_table() {
  using enum OptionType;
  static const std::vector<Option> table = {
      {"spool", "RAYREPLAY_CAPTURE_SPOOL", Path, "rayreplay-spool", "folder that receives one spool file per process"},
      {"frames", "RAYREPLAY_CAPTURE_FRAMES", Range, "", "frames to capture, from 0: 3..5, 4, 2.., ..7 (default: all)"},
      {"launch", "RAYREPLAY_CAPTURE_LAUNCH", Range, "",
       "launches to capture, from 0, written as frames (default: all)"},
      {"trigger_file", "RAYREPLAY_CAPTURE_TRIGGER_FILE", Path, "", "capture only while this file exists"},
      {"window", "RAYREPLAY_CAPTURE_WINDOW", OptionType::Window, "",
       "x,y,width,height: record only the threads in this window of each launch"},
      {"every", "RAYREPLAY_CAPTURE_EVERY", Number, "1", "record only threads whose id is a multiple of this"},
      {"memory", "RAYREPLAY_CAPTURE_MEMORY", Bytes, "",
       "size of the event buffer on the device, e.g. 2GiB (default: a quarter of its memory, at most 8GiB)"},
      {"observe_all", "RAYREPLAY_CAPTURE_OBSERVE_ALL", Switch, "off",
       "make tests on opaque geometry visible: drop opaque flags, add a probe to hit groups without an any-hit shader"},
      {"swizzle", "RAYREPLAY_CAPTURE_SWIZZLE", Path, "",
       "file of u32, one per thread: thread i of a launch runs as thread swizzle[i]; needs swizzle_size"},
      {"swizzle_size", "RAYREPLAY_CAPTURE_SWIZZLE_SIZE", OptionType::Text, "",
       "WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH of the launches that the swizzle is for"},
      {"shaders", "RAYREPLAY_CAPTURE_SHADERS", Path, "",
       "folder of 'rayreplay optimise': its modules run in place of the application's"},
      {"geometry", "RAYREPLAY_CAPTURE_GEOMETRY", Switch, "on",
       "record acceleration structures and shader binding tables"},
      {"record", "RAYREPLAY_CAPTURE_RECORD", Switch, "on", "record events; off: only swizzle and time launches"},
      {"profile", "RAYREPLAY_CAPTURE_PROFILE", OptionType::Text, "",
       "what is recorded inside the shaders: blocks, branches, loads, paths, values, memory (with commas between "
       "them); all stands for blocks,branches,loads,paths, so all,values,memory is everything. blocks: executions of "
       "each basic block; branches, loads: "
       "executions of each, and those in which all lanes agreed; paths: executions of each basic block in each call of "
       "a shader; values: how often each load gave which value; memory: the address of each access to a buffer and the "
       "texel "
       "of each access to an image, which takes much memory (default: nothing)"},
      {"block_counters", "RAYREPLAY_CAPTURE_BLOCK_COUNTERS", OptionType::Text, "all",
       "all: a counter of lanes and of groups for every block; minimal: of lanes alone, for so few that the others "
       "follow from them"},
      {"profile_proven", "RAYREPLAY_CAPTURE_PROFILE_PROVEN", Switch, "off",
       "on: branches and loads that are proven to be the same in the whole launch are compared like others"},
      {"profile_memory_sample", "RAYREPLAY_CAPTURE_PROFILE_MEMORY_SAMPLE", Number, "1",
       "record the accesses of threads whose id is a multiple of this alone"},
      {"profile_stages", "RAYREPLAY_CAPTURE_PROFILE_STAGES", OptionType::Text, "rays",
       "shaders that blocks, branches, loads and values are counted in: rays, and with commas between them compute and "
       "graphics (vertex and fragment shaders); or all"},
      {"profile_value_slots", "RAYREPLAY_CAPTURE_PROFILE_VALUE_SLOTS", Number, "32",
       "different values that are counted for each load, 1 to 1024; further ones are counted as the rest"},
      {"insert_ser", "RAYREPLAY_CAPTURE_INSERT_SER", OptionType::Text, "off",
       "insert shader execution reordering (SER) into ray-generation shaders without it. none: sort threads by their "
       "hits; BITS=FORMULA: by a coherence hint, too (the variable and the settings file take its program, BITS: TERM "
       "TERM …); off: leave the shaders alone"},
      {"pipeline_facts", "RAYREPLAY_CAPTURE_PIPELINE_FACTS", Switch, "off",
       "on: record what the driver says of the application's pipelines: stack sizes of shaders, statistics of "
       "executables; each pipeline is made once more without instrumentation"},
      {"log", "RAYREPLAY_CAPTURE_LOG", Level, "warning", "what is said on standard error: quiet, warning, info"},
  };
  return table;
}

std::optional<Range> parse_range(std::string_view text) {
  text = trimmed(text);
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto number = parse_integer<std::uint32_t>(text);
    return number ? std::optional<rayreplay::layer::Range>({*number, *number}) : std::nullopt;
  }
  rayreplay::layer::Range range;
  const auto first = trimmed(text.substr(0, dots)), last = trimmed(text.substr(dots + 2));
  if ((first.empty() && last.empty()) || (!first.empty() && !store(range.first, parse_integer<std::uint32_t>(first))) ||
      (!last.empty() && !store(range.last, parse_integer<std::uint32_t>(last))) || range.first > range.last) {
    return std::nullopt;
  }
  return range;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  text = trimmed(text);
  std::uint64_t unit = 1;
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits = {
      {{"KiB", 1ULL << 10U}, {"MiB", 1ULL << 20U}, {"GiB", 1ULL << 30U}, {"B", 1}}};
  for (const auto& [name, factor] : kUnits) {
    if (text.ends_with(name)) {
      text = trimmed(text.substr(0, text.size() - name.size()));
      unit = factor;
      break;
    }
  }
  const auto number = parse_integer<std::uint64_t>(text);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() / unit) {
    return std::nullopt;
  }
  return *number * unit;
}

std::optional<Window> parse_window(std::string_view text) {
  const auto values = parse_list(trimmed(text), ',', 4, 4);
  if (!values || (*values)[2] == 0 || (*values)[3] == 0) {
    return std::nullopt;
  }
  return Window{(*values)[0], (*values)[1], (*values)[2], (*values)[3]};
}

namespace {

/// False, and nothing changed: a name is not known.
bool read_profile(Options& options, std::string_view value) {
  bool blocks = false, branches = false, loads = false, paths = false, values = false, memory = false;
  for (bool more = !value.empty(); more;) {
    const auto comma = value.find(',');
    const auto name = trimmed(value.substr(0, comma));
    if (name == "all") {
      // Without values and memory, which need far more room and time than the others.
      blocks = branches = loads = paths = true;
    } else if (name == "blocks") {
      blocks = true;
    } else if (name == "branches") {
      branches = true;
    } else if (name == "loads") {
      loads = true;
    } else if (name == "paths") {
      paths = true;
    } else if (name == "values") {
      values = true;
    } else if (name == "memory") {
      memory = true;
    } else {
      return false;
    }
    more = comma != std::string_view::npos;
    value.remove_prefix(more ? comma + 1 : 0);
  }
  options.profile_blocks = blocks;
  options.profile_branches = branches;
  options.profile_loads = loads;
  options.profile_paths = paths;
  options.profile_values = values;
  options.profile_memory = memory;
  return true;
}

/// False, and nothing changed: a name is not known.
bool read_stages(Options& options, std::string_view value) {
  const bool all = value == "all";
  bool compute = all, graphics = all;
  for (bool more = !all; more;) {
    const auto comma = value.find(',');
    const auto name = trimmed(value.substr(0, comma));
    if (name == "compute") {
      compute = true;
    } else if (name == "graphics") {
      graphics = true;
    } else if (name != "rays") {
      return false;
    }
    more = comma != std::string_view::npos;
    value.remove_prefix(more ? comma + 1 : 0);
  }
  options.profile_compute = compute;
  options.profile_graphics = graphics;
  return true;
}

std::string stages_text(const Options& options) {
  return std::string("rays") + (options.profile_compute ? ",compute" : "") +
         (options.profile_graphics ? ",graphics" : "");
}

std::string profile_text(const Options& options) {
  std::string text;
  for (const auto& [wanted, name] : {std::pair{options.profile_blocks, "blocks"},
                                     {options.profile_branches, "branches"},
                                     {options.profile_loads, "loads"},
                                     {options.profile_paths, "paths"},
                                     {options.profile_values, "values"},
                                     {options.profile_memory, "memory"}}) {
    if (wanted) {
      text += std::string(text.empty() ? "" : ",") + name;
    }
  }
  return text;
}

/// False, and nothing changed: no program.
bool read_insert_ser(Options& options, std::string_view value) {
  std::optional<instrument::HintProgram> hint;
  const bool plain = value == "off" || value == "none";
  if (!plain) {
    std::string reason;
    hint = instrument::parse_hint_program(value, reason);
    if (!hint) {
      return false;
    }
  }
  options.insert_ser = value != "off";
  options.ser_hint = std::move(hint);
  options.ser_text = std::string(value);
  return true;
}

}  // namespace

bool set_option(Options& options, std::string_view name, std::string_view value) {
  const auto path = [&](std::string& target) {
    target = std::string(value);
    return true;
  };
  const auto range = [&](std::optional<Range>& target) {
    if (value.empty()) {
      target.reset();
      return true;
    }
    return store(target, parse_range(value));
  };
  if (name == "spool") {
    return !value.empty() && path(options.spool);
  }
  if (name == "frames") {
    return range(options.frames);
  }
  if (name == "launch") {
    return range(options.launch);
  }
  if (name == "trigger_file") {
    return path(options.trigger_file);
  }
  if (name == "window") {
    if (value.empty()) {
      options.window.reset();
      return true;
    }
    return store(options.window, parse_window(value));
  }
  if (name == "every") {
    const auto every = parse_integer<std::uint32_t>(trimmed(value));
    return every && *every > 0 && store(options.every, every);
  }
  if (name == "memory") {
    if (value.empty()) {
      options.memory = 0;
      return true;
    }
    const auto bytes = parse_bytes(value);
    return bytes && *bytes >= kMinMemory && store(options.memory, bytes);
  }
  if (name == "observe_all") {
    return store(options.observe_all, parse_switch(value));
  }
  if (name == "swizzle") {
    return path(options.swizzle);
  }
  if (name == "swizzle_size") {
    const auto size = parse_list(value, 'x', 2, 3);
    if (!size || (*size)[0] == 0 || (*size)[1] == 0 || (*size)[2] == 0) {
      return false;
    }
    options.swizzle_width = (*size)[0];
    options.swizzle_height = (*size)[1];
    options.swizzle_depth = (*size)[2];
    return true;
  }
  if (name == "shaders") {
    return path(options.shaders);
  }
  if (name == "geometry") {
    return store(options.geometry, parse_switch(value));
  }
  if (name == "record") {
    return store(options.record, parse_switch(value));
  }
  if (name == "profile") {
    return read_profile(options, value);
  }
  if (name == "block_counters") {
    options.block_counters = value == "minimal" ? BlockCounters::Minimal : BlockCounters::All;
    return value == "all" || value == "minimal";
  }
  if (name == "profile_proven") {
    return store(options.profile_proven, parse_switch(value));
  }
  if (name == "profile_memory_sample") {
    const auto every = parse_integer<std::uint32_t>(trimmed(value));
    return every && *every > 0 && store(options.profile_memory_sample, every);
  }
  if (name == "profile_stages") {
    return read_stages(options, value);
  }
  if (name == "profile_value_slots") {
    const auto slots = parse_integer<std::uint32_t>(trimmed(value));
    return slots && *slots > 0 && *slots <= instrument::kMostValueSlots && store(options.profile_value_slots, slots);
  }
  if (name == "insert_ser") {
    return read_insert_ser(options, trimmed(value));
  }
  if (name == "pipeline_facts") {
    return store(options.pipeline_facts, parse_switch(value));
  }
  if (name == "log") {
    for (const auto& [text, level] :
         {std::pair{"quiet", LogLevel::Quiet}, {"warning", LogLevel::Warning}, {"info", LogLevel::Info}}) {
      if (value == text) {
        options.log = level;
        return true;
      }
    }
  }
  return false;
}

Options resolve(const std::function<const char*(const char*)>& variable) {
  Options options;
  const char* settings = variable(kSettingsVariable);
  read_settings(options, settings != nullptr ? settings : kSettingsFile, settings != nullptr);
  for (const auto& option : option_table()) {
    const char* value = variable(option.variable);
    if (value != nullptr && !set_option(options, option.name, value)) {
      options.problems.push_back(std::string(option.variable) + "='" + value + "' cannot be read: " + option.text);
    }
  }
  if (!options.swizzle.empty() && options.swizzle_width == 0) {
    options.problems.emplace_back("swizzle is given without swizzle_size: it is not applied");
    options.swizzle.clear();
  }
  return options;
}

std::string to_text(const Options& options) {
  const auto range = [](const std::optional<Range>& value) {
    if (!value) {
      return std::string();
    }
    return std::to_string(value->first) + ".." +
           (value->last == std::numeric_limits<std::uint32_t>::max() ? "" : std::to_string(value->last));
  };
  const auto window = [&] {
    const auto& value = options.window;
    return value ? std::to_string(value->x) + "," + std::to_string(value->y) + "," + std::to_string(value->width) +
                       "," + std::to_string(value->height)
                 : std::string();
  };
  const auto size = options.swizzle_width == 0
                        ? std::string()
                        : std::to_string(options.swizzle_width) + "x" + std::to_string(options.swizzle_height) + "x" +
                              std::to_string(options.swizzle_depth);
  constexpr std::array<const char*, 3> kLevels = {"quiet", "warning", "info"};
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += std::string(name) + "=" + value + "\n";
  };
  line("spool", options.spool);
  line("frames", range(options.frames));
  line("launch", range(options.launch));
  line("trigger_file", options.trigger_file);
  line("window", window());
  line("every", std::to_string(options.every));
  line("memory", options.memory == 0 ? std::string() : std::to_string(options.memory));
  line("observe_all", options.observe_all ? "on" : "off");
  line("swizzle", options.swizzle);
  line("swizzle_size", size);
  line("shaders", options.shaders);
  line("geometry", options.geometry ? "on" : "off");
  line("record", options.record ? "on" : "off");
  line("profile", profile_text(options));
  line("block_counters", options.block_counters == BlockCounters::All ? "all" : "minimal");
  line("profile_proven", options.profile_proven ? "on" : "off");
  line("profile_memory_sample", std::to_string(options.profile_memory_sample));
  line("profile_stages", stages_text(options));
  line("profile_value_slots", std::to_string(options.profile_value_slots));
  line("insert_ser", options.ser_text);
  line("pipeline_facts", options.pipeline_facts ? "on" : "off");
  line("log", kLevels.at(static_cast<std::size_t>(options.log)));
  return text;
}

}  // namespace rayreplay::layer
