#include "app/report/shaders/trace_rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace rayreplay::report {
namespace {

/// The entry point of a trace's shader in its module.
const spirv::ShaderFacts* facts_of(const KnownModule& known, const trace::Shader& shader) {
  const auto found = std::ranges::find_if(known.facts.shaders, [&](const auto& facts) {
    return facts.entry == shader.entry && stage_of_model(facts.model) == to_string(shader.stage);
  });
  return found == known.facts.shaders.end() ? nullptr : &*found;
}

}  // namespace

std::shared_ptr<const KnownModule> known_module(std::span<const std::uint32_t> words, std::uint32_t most_instructions,
                                                std::string& reason) {
  std::optional<spirv::Module> module = spirv::parse(words, reason);
  return module ? std::make_shared<const KnownModule>(std::move(*module), most_instructions) : nullptr;
}

std::vector<ShaderRow> rows_of_trace(const std::vector<trace::Shader>& shaders, std::uint32_t most_instructions) {
  std::map<std::vector<std::uint32_t>, std::pair<std::shared_ptr<const KnownModule>, std::string>> modules;
  std::vector<ShaderRow> rows;
  for (const trace::Shader& shader : shaders) {
    ShaderRow row{to_string(shader.stage), shader.entry, shader.name, nullptr, nullptr, {}};
    if (shader.spirv.empty()) {
      row.missing = "the trace holds no module of it";
    } else {
      const auto [at, added] = modules.try_emplace(shader.spirv);
      auto& [known, reason] = at->second;
      if (added) {
        known = known_module(shader.spirv, most_instructions, reason);
      }
      row.known = known;
      row.facts = known == nullptr ? nullptr : facts_of(*known, shader);
      if (row.facts == nullptr) {
        row.missing = known == nullptr ? "its words are no SPIR-V module: " + reason
                                       : std::string("its module has no such entry point");
        row.known = nullptr;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rayreplay::report
