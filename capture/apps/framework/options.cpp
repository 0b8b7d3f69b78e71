#include "capture/apps/framework/options.hpp"

#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/png.hpp"

namespace rayreplay::apps {
namespace {

constexpr std::uint32_t kMaxCount = 65535;
constexpr std::uint32_t kMaxWork = 1'000'000;

void add_shared_options(CLI::App& app, Options& options, bool& list) {
  const auto count = [&](const char* name, std::uint32_t& value, const char* text, std::uint32_t least) {
    return app.add_option(name, value, text)
        ->type_name("N")
        ->check(CLI::Range(least, kMaxCount))
        ->capture_default_str();
  };
  const auto choice = [&](const char* name, std::string& value, const char* text, std::vector<std::string> words) {
    return app.add_option(name, value, text)->type_name("WORD")->check(CLI::IsMember(std::move(words)));
  };
  app.add_option("--device", options.device, "Number (see --list-devices) or part of a name; else the first GPU")
      ->type_name("N|NAME")
      ->group("Device");
  app.add_flag("--list-devices", list, "List the Vulkan devices and leave")->group("Device");
  app.add_option("--size", options.size, "Width and height in pixels, one thread each")
      ->type_name("WxH")
      ->capture_default_str()
      ->group("Picture");
  count("--spp", options.samples, "Samples per pixel and launch", 1)->group("Picture");
  count("--depth", options.depth, "Most trace calls of one path, shadow rays not counted", 1)->group("Picture");
  app.add_option("--seed", options.seed, "Same seed, same picture")
      ->type_name("N")
      ->capture_default_str()
      ->group("Picture");
  app.add_option("--image", options.image, "Write the last frame (PNG; an existing file is replaced)")
      ->type_name("FILE")
      ->group("Picture");
  count("--frames", options.frames, "Frames, one submission each; each starts anew", 1)->group("Launches");
  count("--launches-per-frame", options.launches, "Launches of a frame; each adds its samples", 1)->group("Launches");
  app.add_flag("--time", options.time, "Print the time that each launch took on the device")->group("Launches");
  count("--warm-up", options.warm_up, "Frames before the first one, not timed", 0)->group("Launches");
  choice("--hit-groups", options.hit_groups, "single: one closest-hit shader; per-material: one for each kind",
         {"single", "per-material"})
      ->capture_default_str()
      ->group("Shaders");
  choice("--opaque", options.opaque, "yes: no any-hit shader is called; no: geometry is not marked opaque",
         {"yes", "no"})
      ->group("Shaders");
  app.add_flag("--any-hit", options.any_hit, "An any-hit shader on everything")->group("Shaders");
  app.add_flag("--recursion", options.recursion, "Trace bounces from hit shaders, not in a loop")->group("Shaders");
  app.add_flag("--ser", options.reorder, "Hit objects, reordered by a hint (NVIDIA's invocation reorder)")
      ->group("Shaders");
  app.add_flag("--no-reorder-call", options.no_reorder_call, "With --ser: hit objects alone, nothing is reordered")
      ->group("Shaders");
  app.add_option("--hit-work", options.hit_work, "Dependent multiply-adds that every closest hit does for nothing")
      ->type_name("N")
      ->check(CLI::Range(0U, kMaxWork))
      ->capture_default_str()
      ->group("Shaders");
  app.add_option("--swizzle", options.swizzle,
                 "Flat little-endian uint32 for each thread: whose pixel it renders (rayreplay swizzle)")
      ->type_name("FILE")
      ->group("Shaders");
}

[[noreturn]] void fail_size(const std::string& size) {
  throw Error(ErrorKind::Usage, {"not a picture's size", "--size", "'" + size + "'", "WIDTHxHEIGHT, 1 to 65535 each",
                                 "for example 1280x720"});
}

std::uint32_t parse_side(const std::string& size, std::string_view text) {
  std::uint32_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 1 || value > kMaxCount) {
    fail_size(size);
  }
  return value;
}

void check_options(Options& options) {
  const std::string_view size = options.size;
  const std::size_t cross = size.find('x');
  if (cross == std::string_view::npos) {
    fail_size(options.size);
  }
  options.width = parse_side(options.size, size.substr(0, cross));
  options.height = parse_side(options.size, size.substr(cross + 1));
  if (options.any_hit && options.opaque == "yes") {
    throw Error(ErrorKind::Usage, {"opaque geometry calls no any-hit shader", "--any-hit, --opaque", "yes", "no",
                                   "leave one of the two out"});
  }
  if (options.reorder && options.recursion) {
    throw Error(ErrorKind::Usage, {"threads are reordered in the ray-generation shader's loop", "--ser, --recursion",
                                   "", "one of the two", ""});
  }
  if (options.no_reorder_call && !options.reorder) {
    throw Error(ErrorKind::Usage,
                {"nothing is reordered without --ser anyway", "--no-reorder-call", "", "", "add --ser"});
  }
  if (!options.image.empty()) {
    const std::filesystem::path folder = std::filesystem::path(options.image).parent_path();
    std::error_code ignored;
    if (!folder.empty() && !std::filesystem::is_directory(folder, ignored)) {
      throw Error(ErrorKind::Output,
                  {"the picture's folder does not exist", options.image, "", "", "mkdir -p '" + folder.string() + "'"});
    }
    require_png_size(options.width, options.height, "--size");
  }
}

int report(const std::string& program, const std::string& message, ErrorKind kind) {
  const std::string line = program + ": error: " + message + "\n";
  std::fputs(line.c_str(), stderr);
  return static_cast<int>(kind);
}

std::string nearest_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return nearest(word.substr(0, word.find('=')), names);
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty()) {
    return report(app.get_name(), error.what(), ErrorKind::Usage);
  }
  const std::string near = nearest_option(app, words.front());
  return report(
      app.get_name(),
      format_error({words.front().starts_with("-") ? "unknown option" : "unexpected argument", "",
                    "'" + words.front() + "'", "", near.empty() ? "see --help" : "did you mean '" + near + "'?"}),
      ErrorKind::Usage);
}

}  // namespace

int run_program(int argc, char** argv, const Program& program) {
  CLI::App app(program.description, program.name);
  Options options;
  bool list = false;
  add_shared_options(app, options, list);
  if (program.add_options) {
    program.add_options(app);
  }
  try {
    app.parse(argc, argv);
    if (list) {
      for (const std::string& line : list_devices()) {
        std::puts(line.c_str());
      }
      return 0;
    }
    check_options(options);
    program.run(options);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error);
  } catch (const Error& error) {
    return report(program.name, format_error(error.info()), error.kind());
  } catch (const std::bad_alloc&) {
    return report(program.name, "out of memory. Fix: render a smaller picture or scene", ErrorKind::Resource);
  } catch (const std::exception& error) {
    return report(program.name, error.what(), ErrorKind::Internal);
  }
  return 0;
}

void require_within(const Options& options, const DeviceLimits& limits, std::uint32_t nested) {
  const std::uint64_t threads = std::uint64_t{options.width} * options.height;
  if (options.width > limits.max_image_side || options.height > limits.max_image_side ||
      threads > limits.max_invocations) {
    throw Error(ErrorKind::Resource,
                {"the picture is larger than the device takes", "--size", options.size,
                 fmt::format("at most {} a side and {} in all", limits.max_image_side, limits.max_invocations), ""});
  }
  if (options.recursion && nested > limits.max_recursion) {
    const std::uint32_t most = limits.max_recursion - (nested - options.depth);
    throw Error(ErrorKind::Usage,
                {"the device does not recurse as deep", "--depth", std::to_string(options.depth),
                 fmt::format("at most {} with --recursion", most), fmt::format("add --depth {}", most)});
  }
  if (options.time && !(limits.timestamp_ns > 0)) {
    throw Error(ErrorKind::Missing, {"the device's queue has no timestamps", "--time", limits.name, "", ""});
  }
}

}  // namespace rayreplay::apps
