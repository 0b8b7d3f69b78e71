#include "app/commands/capture/module_file.hpp"

#include <cstring>
#include <string_view>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"

namespace rayreplay::app {

namespace {
constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{1} << 30;
}  // namespace

std::vector<std::uint32_t> read_module_file(const std::string& path) {
  const std::string bytes = read_text_file(path, kMaxModuleBytes);
  if (bytes.size() % sizeof(std::uint32_t) != 0) {
    throw Error(ErrorKind::Input, {"the file is no SPIR-V module", path, counted(bytes.size(), "byte"),
                                   "a multiple of 4", "give a binary module, as glslangValidator -V writes"});
  }
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  if (!words.empty()) {
    std::memcpy(words.data(), bytes.data(), bytes.size());
  }
  return words;
}

bool has_module_start(const std::string& path) {
  constexpr std::string_view kLittle("\x03\x02\x23\x07", 4);
  constexpr std::string_view kBig("\x07\x23\x02\x03", 4);
  const std::string first = read_start(path, kLittle.size(), "module or trace");
  return first == kLittle || first == kBig;
}

}  // namespace rayreplay::app
