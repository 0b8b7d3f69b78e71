// The capture options: one table for the layer's environment variables and settings file and for `rayreplay capture`.
//
// Contract: option_table() lists every option once. resolve() reads the settings file (RAYREPLAY_CAPTURE_SETTINGS, else
// vk_layer_settings.txt in the working folder; keys "rayreplay_capture.<name>") and then the environment, which wins.
// Nothing throws; a value that cannot be read leaves the default and adds a line to `problems`. Standard library only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/instrument/ser/hint_program.hpp"

namespace rayreplay::layer {

enum class OptionType : std::uint8_t { Text, Path, Number, Bytes, Range, Window, Switch, Level };

struct Option {
  const char* name;      ///< settings key after "rayreplay_capture."; flag is --name with '-' for '_'
  const char* variable;  ///< environment
  OptionType type;
  const char* default_value;  ///< as text; "" : not set
  const char* text;           ///< one line for help and documentation
};

/// "3..5" (both included), "4", "2..", "..7".
struct Range {
  std::uint32_t first = 0, last = 0xFFFF'FFFFU;
  [[nodiscard]] bool contains(std::uint32_t number) const {
    return number >= first && number <= last;
  }
};

struct Window {
  std::uint32_t x = 0, y = 0, width = 0, height = 0;
};

/// Blocks of shaders that get a counter.
enum class BlockCounters : std::uint8_t { All = 0, Minimal };

enum class LogLevel : std::uint8_t { Quiet = 0, Warning, Info };

/// Smallest event buffer: room for the largest chunks of records.
inline constexpr std::uint64_t kMinMemory = std::uint64_t{64} << 10U;

struct Options {
  std::string spool = "rayreplay-spool";
  std::optional<Range> frames, launch;
  std::string trigger_file;
  std::optional<Window> window;
  std::uint32_t every = 1;
  std::uint64_t memory = 0;  ///< bytes of the event buffer; 0: by the device
  bool observe_all = false;
  std::string swizzle;
  std::uint32_t swizzle_width = 0, swizzle_height = 0, swizzle_depth = 0;
  std::string shaders;  ///< folder of modules that replace the application's; "": none
  bool geometry = true;
  bool record = true;
  bool profile_blocks = false, profile_branches = false, profile_loads = false, profile_paths = false;
  bool profile_memory = false, profile_values = false;
  bool profile_compute = false, profile_graphics = false;  ///< also in these shaders: blocks, branches, loads, values
  std::uint32_t profile_memory_sample = 1;
  std::uint32_t profile_value_slots = 32;  ///< 1 to instrument::kMostValueSlots
  BlockCounters block_counters = BlockCounters::All;
  /// SER is put into shaders that have none; with a hint: its program.
  bool insert_ser = false;
  std::optional<instrument::HintProgram> ser_hint;
  std::string ser_text = "off";  ///< as given: off, none, or the program
  bool profile_proven = false;   ///< branches and loads that are proven to be uniform are compared, too
  bool pipeline_facts = false;   ///< stack sizes and statistics of the application's pipelines
  LogLevel log = LogLevel::Warning;
  std::vector<std::string> problems;
};

[[nodiscard]] const std::vector<Option>& option_table();

/// A value from text; false (and nothing changed) if it cannot be read. `name` is of the table.
[[nodiscard]] bool set_option(Options& options, std::string_view name, std::string_view value);

[[nodiscard]] std::optional<Range> parse_range(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);
[[nodiscard]] std::optional<Window> parse_window(std::string_view text);

/// `variable`: an environment look-up (name → value, or null), getenv in production.
[[nodiscard]] Options resolve(const std::function<const char*(const char*)>& variable);

/// "key=value" lines of all options, resolved.
[[nodiscard]] std::string to_text(const Options& options);

}  // namespace rayreplay::layer
