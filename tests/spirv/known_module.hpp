// A module parsed and analysed, for tests.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>

#include "capture/spirv/facts.hpp"

namespace rayreplay::test {

struct Known {
  explicit Known(spirv::Module given) : module(std::move(given)), analysed(module) {}
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;

  spirv::Module module;
  spirv::Analysed analysed;

  /// The inline view of an entry point; throws the reason if there is none.
  [[nodiscard]] spirv::InlineView view(std::size_t entry_point = 0) const {
    std::string reason;
    auto view =
        spirv::inline_view(analysed, analysed.calls.function_of.at(module.entry_points.at(entry_point)[2]), reason);
    return view ? std::move(*view) : throw std::runtime_error(reason);
  }
};

[[nodiscard]] inline std::unique_ptr<Known> known(std::span<const std::uint32_t> words) {
  std::string reason;
  std::optional<spirv::Module> module = spirv::parse(words, reason);
  return module ? std::make_unique<Known>(std::move(*module)) : throw std::runtime_error(reason);
}

}  // namespace rayreplay::test
