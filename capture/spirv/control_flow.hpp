// A function's control-flow graph: its blocks, the edges between them, dominators, post-dominators and natural loops.
//
// Contract: `control_flow` takes any function of a parsed module. The result is empty, with a reason, for a body that
// is no list of blocks or that branches to a label outside it. Control flow need not be structured. Graph nodes are
// indices of `blocks`, which are in the module's order; node 0 is the entry. Blocks that the entry does not reach
// remain, in no loop and without dominators. O(edges · log blocks).
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "capture/spirv/dominators.hpp"
#include "capture/spirv/loops.hpp"
#include "capture/spirv/module.hpp"

namespace rayreplay::spirv {

/// How a block ends.
enum class Ending : std::uint8_t {
  Branch,             ///< OpBranch
  ConditionalBranch,  ///< OpBranchConditional, also one with equal targets
  Switch,
  Return,  ///< with or without a value
  Abort,   ///< ends the invocation: OpKill, OpIgnoreIntersectionKHR, OpTerminateRayKHR, …
  Unreachable,
};

struct Block {
  Id label = 0;
  std::size_t first = 0;  ///< index of OpLabel in Function::body
  std::size_t last = 0;   ///< index of the instruction that ends it
  Ending ending = Ending::Return;
  Id merge = 0;            ///< merge block of OpSelectionMerge or OpLoopMerge; 0: none
  Id continue_target = 0;  ///< of OpLoopMerge; 0: none
};

struct ControlFlow {
  std::vector<Block> blocks;  ///< empty: a function without a body
  Graph graph;                ///< successors in the order of the branch's operands, each once
  std::vector<Node> order;    ///< reverse postorder of the reached blocks
  DominatorTree dominators;
  /// Immediate post-dominator: the nearest block that lies on every path from a block to an exit. kNoNode: there is
  /// none, since paths end in different exits or the block reaches no exit. An exit is a block without successor.
  std::vector<Node> post_dominator;
  Loops loops;

  [[nodiscard]] bool reached(Node block) const {
    return dominators.reached(block);
  }
};

/// How the opcode ends a block; empty if it does not.
[[nodiscard]] std::optional<Ending> ending_of(Word op);

/// The labels that a block's last instruction names, in its order, with repetitions. `literal_words`: of OpSwitch
/// (WideSelectors); any number for other instructions.
[[nodiscard]] std::vector<Id> targets_of(const Instruction& last, std::size_t literal_words);

/// Selectors of OpSwitch that have more than 32 bits, so that their literals have two words. Linear in the module.
class WideSelectors {
 public:
  explicit WideSelectors(const Module& module);
  [[nodiscard]] std::size_t literal_words(Id selector) const {
    return wide_.contains(selector) ? 2 : 1;
  }

 private:
  std::unordered_set<Id> wide_;
};

/// `selectors`: of the function's module. `reason` says why the result is empty.
[[nodiscard]] std::optional<ControlFlow> control_flow(const Function& function, const WideSelectors& selectors,
                                                      std::string& reason);

/// Dominators, post-dominators and loops of blocks and edges that are known; `blocks` stays empty.
[[nodiscard]] ControlFlow control_flow(Graph graph);

}  // namespace rayreplay::spirv
