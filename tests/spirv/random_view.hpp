// Random inline views: values in strict SSA form, accesses of slots anywhere, and calls.
#pragma once

#include "capture/spirv/inline_view.hpp"
#include "tests/spirv/random_graph.hpp"

namespace rayreplay::test {

class RandomView {
 public:
  explicit RandomView(std::mt19937& random) : random_(random) {
    view_.flow = spirv::control_flow(random_graph(random, 10));
    const auto slots = static_cast<std::uint32_t>(1 + random_() % 4);
    for (std::uint32_t s = 0; s < slots; ++s) {
      const auto storage = one_in(6) ? spv::StorageClass::IncomingRayPayloadKHR : spv::StorageClass::Private;
      view_.slots.push_back({1U << s, 0, 0, storage, one_in(4)});
    }
  }

  spirv::InlineView make() {
    for (spirv::Node b = 0; b < view_.flow.graph.size(); ++b) {
      const auto first = static_cast<std::uint32_t>(view_.operations.size());
      const auto operations = static_cast<std::uint32_t>(random_() % 6);
      view_.blocks.push_back({first, first + operations, 0, b, true});
      for (std::uint32_t o = first; o < first + operations; ++o) {
        add_operation(b, o);
      }
    }
    for (std::uint32_t o = 0; o < view_.operations.size(); ++o) {
      add_uses(o);
    }
    return std::move(view_);
  }

 private:
  bool one_in(std::uint32_t n) {
    return random_() % n == 0;
  }

  void add_operation(spirv::Node block, std::uint32_t o) {
    spirv::Operation operation;
    operation.accesses = static_cast<std::uint32_t>(view_.accesses.size());
    if (one_in(3)) {
      const auto first = static_cast<spirv::Slot>(random_() % view_.slots.size());
      const auto count = static_cast<std::uint32_t>(1 + random_() % (view_.slots.size() - first));
      view_.accesses.push_back({static_cast<spirv::AccessKind>(random_() % 4), first, count});
    }
    operation.accesses_end = static_cast<std::uint32_t>(view_.accesses.size());
    block_of_.push_back(block);
    if (one_in(2) && view_.flow.reached(block)) {
      operation.result = static_cast<spirv::Value>(view_.values.size());
      view_.values.push_back({std::uint64_t{1} << operation.result % 16, 0, o, block});
      operation.joins = one_in(4) && o == view_.blocks[block].first && !view_.flow.graph.predecessors[block].empty();
    }
    if (view_.flow.reached(block) && one_in(3)) {
      spirv::ViewCall call;
      call.operation = o;
      call.block = block;
      if (one_in(2)) {
        call.payload = static_cast<spirv::Slot>(random_() % view_.slots.size());
        call.payload_slots = 1;
      }
      view_.calls.push_back(call);
    }
    view_.operations.push_back(operation);
  }

  /// True if the value is defined before operation `o` of the block, or before the block's end (`o`: its last + 1).
  [[nodiscard]] bool available(const spirv::ValueInfo& value, spirv::Node block, std::uint32_t o) const {
    return value.block == block ? value.operation < o : view_.flow.dominators.dominates(value.block, block);
  }

  void add_use(spirv::Node block, std::uint32_t o, spirv::Node from) {
    std::vector<spirv::Value> choice;
    for (spirv::Value v = 0; v < view_.values.size(); ++v) {
      if (available(view_.values[v], block, o)) {
        choice.push_back(v);
      }
    }
    if (!choice.empty()) {
      view_.uses.push_back(choice[random_() % choice.size()]);
      view_.use_block.push_back(from);
    }
  }

  void add_uses(std::uint32_t o) {
    spirv::Operation& operation = view_.operations[o];
    const spirv::Node block = block_of_[o];
    operation.uses = operation.address = static_cast<std::uint32_t>(view_.uses.size());
    if (operation.joins) {
      for (const spirv::Node from : view_.flow.graph.predecessors[block]) {
        if (view_.flow.reached(from)) {
          add_use(from, view_.blocks[from].end, from);
        }
      }
    } else if (view_.flow.reached(block)) {
      for (std::uint32_t n = 0; n < random_() % 3; ++n) {
        add_use(block, o, spirv::kNoNode);
      }
    }
    operation.uses_end = static_cast<std::uint32_t>(view_.uses.size());
  }

  std::mt19937& random_;
  spirv::InlineView view_;
  std::vector<spirv::Node> block_of_;
};

}  // namespace rayreplay::test
