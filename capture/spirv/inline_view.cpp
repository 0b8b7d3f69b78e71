#include "capture/spirv/inline_view.hpp"

#include "capture/spirv/view_builder.hpp"

namespace rayreplay::spirv {

Analysed::Analysed(const Module& given) : module(given), index(given), classes(given), calls(call_graph(given)) {
  const WideSelectors selectors(module);
  flows.reserve(module.functions.size());
  reasons.resize(module.functions.size());
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    flows.push_back(control_flow(module.functions[f], selectors, reasons[f]));
  }
}

std::optional<InlineView> inline_view(const Analysed& module, std::uint32_t function, std::string& reason) {
  const Reached reached = reached_from(module.calls, function);
  if (reached.recursion) {
    reason = "recursion";
    return std::nullopt;
  }
  for (const std::uint32_t f : reached.functions) {
    if (!module.flows[f]) {
      reason = module.reasons[f];
      return std::nullopt;
    }
  }
  return ViewBuilder(module, reason).build(function);
}

}  // namespace rayreplay::spirv
