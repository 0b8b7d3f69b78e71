#include "capture/profile/access_names.hpp"

#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "capture/profile/place_names.hpp"
#include "capture/spirv/facts.hpp"
#include "capture/spirv/source_lines.hpp"

namespace rayreplay::profile {
namespace {

struct AccessCode {
  explicit AccessCode(spirv::Module parsed)
      : module(std::move(parsed)), analysed(module), names(analysed), lines(analysed) {}

  spirv::Module module;
  spirv::Analysed analysed;
  PlaceNames names;
  spirv::SourceLines lines;
};

std::unique_ptr<const AccessCode> code_of(const trace::Shader& shader) {
  std::string reason;
  auto module = spirv::parse(shader.spirv, reason);
  return module ? std::make_unique<const AccessCode>(std::move(*module)) : nullptr;
}

AccessName name_of(const AccessCode& code, const spirv::Place& place, std::uint32_t block) {
  const spirv::Analysed& analysed = code.analysed;
  if (place.function >= analysed.flows.size() || !analysed.flows[place.function] ||
      block >= analysed.flows[place.function]->blocks.size()) {
    return {};
  }
  const spirv::Block& found = analysed.flows[place.function]->blocks[block];
  if (place.instruction < found.first || place.instruction > found.last) {
    return {};
  }
  AccessName name;
  name.place = code.names.accessed_by(code.module.functions[place.function].body[place.instruction]);
  if (name.place.empty()) {
    return {};
  }
  name.function = spirv::function_name(analysed, place.function);
  name.label = fmt::format("%{}", found.label);
  if (const spirv::SourceLines::Line line = code.lines.at(place); line.number != 0) {
    name.source = fmt::format("{}:{}", code.lines.file(line), line.number);
  }
  return name;
}

}  // namespace

std::vector<AccessName> access_names(const std::vector<trace::Shader>& shaders, const trace::AccessSites& sites) {
  std::map<std::uint16_t, std::unique_ptr<const AccessCode>> codes;
  std::vector<AccessName> names(sites.size());
  for (std::size_t row = 0; row < sites.size(); ++row) {
    const auto [code, is_new] = codes.try_emplace(sites.shader[row]);
    if (is_new) {
      code->second = code_of(shaders[sites.shader[row]]);
    }
    if (code->second) {
      names[row] = name_of(*code->second, {sites.function[row], sites.instruction[row]}, sites.block[row]);
    }
  }
  return names;
}

}  // namespace rayreplay::profile
