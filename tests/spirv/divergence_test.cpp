// Uniformity: by hand on a fixture, and against threads that run random functions together and meet again at immediate
// post-dominators: what the analysis calls uniform never differs.
#include "capture/spirv/divergence.hpp"

#include <map>

#include <gtest/gtest.h>

#include "Uniformity.spv.hpp"
#include "capture/spirv/divergent_joins.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/spirv/known_module.hpp"
#include "tests/spirv/random_shader.hpp"

namespace rayreplay {
namespace {

using spirv::Level;
using spirv::Node;

TEST(Uniformity, OfKnownBranches) {
  const auto module = test::known(kUniformity);
  const spirv::ModuleFacts facts = spirv::facts_of(module->analysed, 0);
  ASSERT_TRUE(facts.shaders.at(0).has_divergence);
  std::vector<Level> levels;
  for (const spirv::UniformityFacts& branch : facts.shaders[0].branches) {
    levels.push_back(branch.level);
  }
  constexpr Level kLaunch = Level::Launch, kGroup = Level::Group, kMay = Level::Divergent;
  EXPECT_EQ(levels,
            (std::vector<Level>{kLaunch, kMay, kGroup, kGroup, kMay, kMay, kGroup, kMay, kGroup, kMay, kLaunch, kMay}));
}

constexpr std::size_t kThreads = 6;
constexpr std::size_t kMostSteps = 3000;

using Row = std::array<std::uint32_t, kThreads>;  ///< by thread

/// Runs a function of tests/spirv/random_shader.hpp in threads that execute together.
class Machine {
 public:
  Machine(const spirv::Module& module, const spirv::ControlFlow& flow, std::mt19937& random)
      : body_(module.functions[0].body), flow_(flow), registers_(module.bound) {
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      input_[t] = static_cast<std::uint32_t>(random() % 3);
    }
    pushed_ = static_cast<std::uint32_t>(random() % 4);
    salt_ = static_cast<std::uint32_t>(random());
    for (Node b = 0; b < flow.blocks.size(); ++b) {
      block_of_[flow.blocks[b].label] = b;
    }
    for (std::uint32_t c = 0; c < 4; ++c) {
      registers_[test::kFirstConstant + c].fill(c);
    }
    private_.fill(0);
  }

  /// By instruction: what its executions gave.
  struct Seen {
    bool differs = false;       ///< between threads that executed it together
    bool differs_ever = false;  ///< between any two executions
    std::optional<std::uint32_t> value;
  };
  std::map<std::size_t, Seen> run() {
    std::vector<bool> all(kThreads, true);
    run(0, all, spirv::kNoNode);
    return std::move(seen_);
  }

 private:
  using Mask = std::vector<bool>;

  /// From a block on to `stop`; the mask then has the threads that arrive there.
  void run(Node block, Mask& mask, Node stop) {
    while (block != stop && std::find(mask.begin(), mask.end(), true) != mask.end()) {
      const Node next = execute(block, mask);
      if (next == spirv::kNoNode) {
        mask.assign(kThreads, false);
        return;
      }
      block = next;
    }
  }

  void note(std::size_t i, const Row& row, const Mask& mask) {
    Seen& seen = seen_[i];
    std::optional<std::uint32_t> first;
    for (std::size_t t = 0; t < kThreads; ++t) {
      if (mask[t]) {
        seen.differs = seen.differs || (first && *first != row[t]);
        seen.differs_ever = seen.differs_ever || (seen.value && *seen.value != row[t]);
        first = seen.value = row[t];
      }
    }
  }

  /// The next block of the threads in the mask, after those that part have met again; kNoNode: none goes on.
  Node execute(Node block, Mask& mask) {
    const spirv::Block& source = flow_.blocks[block];
    std::vector<std::pair<spirv::Id, Row>> joins;
    for (std::size_t i = source.first + 1; i < source.last; ++i) {
      const spirv::Instruction& in = body_[i];
      if (in.is(spv::Op::OpPhi)) {
        Row row = registers_[in[2]];
        for (std::size_t t = 0; t < kThreads; ++t) {
          for (std::size_t w = 3; mask[t] && w < in.size(); w += 2) {
            row[t] = block_of_.at(in[w + 1]) == from_[t] ? registers_[in[w]][t] : row[t];
          }
        }
        note(i, row, mask);
        joins.emplace_back(in[2], row);
        continue;
      }
      for (const auto& [id, row] : joins) {
        registers_[id] = row;
      }
      joins.clear();
      step(i, in, mask);
    }
    for (const auto& [id, row] : joins) {
      registers_[id] = row;
    }
    return branch(block, mask);
  }

  void step(std::size_t i, const spirv::Instruction& in, const Mask& mask) {
    using spv::Op;
    if (in.is(Op::OpStore)) {
      for (std::size_t t = 0; t < kThreads; ++t) {
        private_[t] = mask[t] ? registers_[in[2]][t] : private_[t];
      }
      return;
    }
    Row& row = registers_[in[2]];
    for (std::size_t t = 0; t < kThreads; ++t) {
      if (mask[t]) {
        row[t] = value(in, t);
      }
    }
    if (!in.is(Op::OpAccessChain)) {
      note(i, row, mask);
    }
  }

  std::uint32_t value(const spirv::Instruction& in, std::size_t t) {
    const auto operand = [&](std::size_t w) { return registers_[in[w]][t]; };
    switch (static_cast<spv::Op>(in.op())) {
      case spv::Op::OpAccessChain:
        return operand(4);
      case spv::Op::OpLoad:
        // Memory changes with time, but not while threads read it together.
        return in[3] == test::kThreadInput ? input_[t]
               : in[3] == test::kPushed    ? pushed_
               : in[3] == test::kPrivate   ? private_[t]
                                           : (operand(3) * 7 + salt_ + static_cast<std::uint32_t>(steps_ / 8)) % 5;
      case spv::Op::OpIAdd:
        return operand(3) + operand(4);
      case spv::Op::OpIMul:
        return operand(3) * operand(4);
      case spv::Op::OpULessThan:
        return operand(3) % 5 < operand(4) % 5 ? 1 : 0;
      default:
        return operand(3) % 3 == operand(4) % 3 ? 1 : 0;
    }
  }

  Node branch(Node block, Mask& mask) {
    const std::size_t i = flow_.blocks[block].last;
    const spirv::Instruction& last = body_[i];
    const std::vector<Node>& to = flow_.graph.successors[block];
    if (to.empty() || ++steps_ > kMostSteps) {
      return spirv::kNoNode;
    }
    std::vector<Mask> ways(to.size(), Mask(kThreads, false));
    Row chosen{};
    for (std::size_t t = 0; t < kThreads; ++t) {
      if (!mask[t]) {
        continue;
      }
      from_[t] = block;
      const std::uint32_t value = to.size() == 1 ? 0 : registers_[last[1]][t];
      const std::uint32_t way = to.size() == 1   ? 0
                                : to.size() == 2 ? (value != 0 ? 0U : 1U)
                                                 : (value == 1 || value == 2 ? value : 0);
      chosen[t] = way;
      ways[way][t] = true;
    }
    if (to.size() > 1) {
      note(i, chosen, mask);
    }
    std::size_t taken = 0;
    std::size_t only = 0;
    for (std::size_t w = 0; w < ways.size(); ++w) {
      if (std::find(ways[w].begin(), ways[w].end(), true) != ways[w].end()) {
        ++taken;
        only = w;
      }
    }
    if (taken == 1) {
      return to[only];
    }
    const Node meet = flow_.post_dominator[block];
    mask.assign(kThreads, false);
    for (std::size_t w = 0; w < ways.size(); ++w) {
      run(to[w], ways[w], meet);
      for (std::size_t t = 0; t < kThreads; ++t) {
        mask[t] = mask[t] || (ways[w][t] && meet != spirv::kNoNode);
      }
    }
    return meet;
  }

  const std::vector<spirv::Instruction>& body_;
  const spirv::ControlFlow& flow_;
  std::vector<Row> registers_;
  Row input_{}, private_{};
  std::array<Node, kThreads> from_{};
  std::uint32_t pushed_ = 0, salt_ = 0;
  std::map<spirv::Id, Node> block_of_;
  std::map<std::size_t, Seen> seen_;
  std::size_t steps_ = 0;
};

TEST(Divergence, NeverCallsUniformWhatDiffers) {
  std::mt19937 random(11);
  std::size_t uniform = 0, differing = 0, missed = 0, left_alone = 0;
  for (int n = 0; n < 1500 && !HasFailure(); ++n) {
    const test::Known known(test::RandomShader(random).make());
    const spirv::InlineView view = known.view();
    const auto live = spirv::liveness(view);
    std::string reason;
    const auto levels = spirv::divergence(view, known.analysed, *live, reason);
    if (!levels) {
      ASSERT_NE(reason.find("another round of an outer loop"), std::string::npos) << reason;
      ++left_alone;
      continue;
    }
    std::map<std::size_t, Level> level_of;
    for (const Node b : view.flow.order) {
      for (std::uint32_t o = view.blocks[b].first; o < view.blocks[b].end; ++o) {
        const bool branches = o + 1 == view.blocks[b].end && view.flow.graph.successors[b].size() > 1;
        level_of[view.operations[o].place.instruction] = branches ? levels->decisions[b] : levels->results[o];
      }
    }
    std::map<std::size_t, bool> differs;
    for (int runs = 0; runs < 4; ++runs) {
      for (const auto& [i, seen] : Machine(known.module, *known.analysed.flows[0], random).run()) {
        const Level level = level_of.at(i);
        EXPECT_FALSE(level != Level::Divergent && seen.differs) << "shader " << n << ", instruction " << i;
        EXPECT_FALSE(level == Level::Launch && seen.differs_ever) << "shader " << n << ", instruction " << i;
        differs[i] = differs[i] || seen.differs;
      }
    }
    for (const auto& [i, differed] : differs) {
      uniform += level_of.at(i) != Level::Divergent ? 1U : 0U;
      differing += differed ? 1U : 0U;
      missed += level_of.at(i) == Level::Divergent && !differed ? 1U : 0U;
    }
  }
  EXPECT_LT(left_alone, 150U);
  // Not vacuous: both kinds occur, and few that never differed are called divergent.
  EXPECT_GT(uniform, 1000U);
  EXPECT_GT(differing, 1000U);
  RecordProperty("called_divergent_without_a_difference", static_cast<int>(missed));
  EXPECT_LT(missed, 3 * differing) << uniform << " uniform, " << differing << " differing, " << missed << " missed";
}

/// Joins of graphs whose joins are known.
TEST(DivergentJoins, OfADiamondALoopAndAnEarlyExit) {
  // 0 → 1, 2; both → 3.
  spirv::Graph diamond(4);
  diamond.connect(0, 1);
  diamond.connect(0, 2);
  diamond.connect(1, 3);
  diamond.connect(2, 3);
  const spirv::ControlFlow flow = spirv::control_flow(diamond);
  EXPECT_EQ(spirv::JoinFinder(flow).of(0).joins, (std::vector<Node>{3}));
  // 0 → 1; 1 → 2, 4; 2 → 3, 4; 3 → 1: a loop with two exits to 4.
  spirv::Graph loop(5);
  loop.connect(0, 1);
  loop.connect(1, 2);
  loop.connect(1, 4);
  loop.connect(2, 3);
  loop.connect(2, 4);
  loop.connect(3, 1);
  const spirv::ControlFlow round = spirv::control_flow(loop);
  const spirv::DivergentJoins found = spirv::JoinFinder(round).of(2);
  EXPECT_EQ(found.joins, (std::vector<Node>{4}));
  EXPECT_EQ(found.loops, (std::vector<std::uint32_t>{0}));
  // The way without an else: 0 → 1, 2; 1 → 2.
  spirv::Graph half(3);
  half.connect(0, 1);
  half.connect(0, 2);
  half.connect(1, 2);
  const spirv::ControlFlow short_way = spirv::control_flow(half);
  EXPECT_EQ(spirv::JoinFinder(short_way).of(0).joins, (std::vector<Node>{2}));
}

}  // namespace
}  // namespace rayreplay
