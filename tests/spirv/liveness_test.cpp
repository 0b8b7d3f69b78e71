// Live state at calls: by hand on fixtures, and against a search along paths of single instructions on random views.
#include "capture/spirv/liveness.hpp"

#include <set>

#include <gtest/gtest.h>

#include "Bounces.spv.hpp"
#include "Nested.spv.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/spirv/known_module.hpp"
#include "tests/spirv/random_view.hpp"

namespace rayreplay {
namespace {

using spirv::AccessKind;
using spirv::InlineView;
using spirv::Node;
using spirv::Slot;
using spirv::Value;

std::vector<spirv::CallFacts> calls_of(std::span<const std::uint32_t> words, std::uint32_t recompute = 0) {
  const auto module = test::known(words);
  const spirv::ModuleFacts facts = spirv::facts_of(module->analysed, recompute);
  EXPECT_TRUE(facts.shaders.at(0).notes.empty());
  return facts.shaders.at(0).calls;
}

TEST(LiveState, OfALoop) {
  const std::vector<spirv::CallFacts> calls = calls_of(kBounces);
  ASSERT_EQ(calls.size(), 1U);
  // origin, sum and throughput of 12 bytes each, bounce of 4; density and history are not read, scratch is written
  // before it is read.
  EXPECT_EQ(calls[0].live.slot_bytes, 40U);
  EXPECT_EQ(calls[0].live.value_bytes, 0U);
  EXPECT_EQ(calls[0].payload_bytes, 16U);
  EXPECT_EQ(calls[0].copies, 1U);
}

TEST(LiveState, HasThatOfTheCallers) {
  const std::vector<spirv::CallFacts> calls = calls_of(kNested);
  ASSERT_EQ(calls.size(), 2U);
  // By the module's order of functions: shoot, then shade_it.
  EXPECT_EQ(calls[0].kind, spirv::CallKind::Trace);
  EXPECT_EQ(calls[0].copies, 2U);
  // before 4, random 4, bent 8, wide.x 8, odd 1; in the second copy also first 4.
  EXPECT_EQ(calls[0].live.bytes(), 29U);
  EXPECT_EQ(calls[0].payload_bytes, 4U);
  EXPECT_EQ(calls[1].kind, spirv::CallKind::Callable);
  // random 4, wide.x 8, odd 1, first 4, bent.x 4.
  EXPECT_EQ(calls[1].live.bytes(), 21U);
  EXPECT_EQ(calls[1].payload_bytes, 8U);
}

/// Instructions of a view as points: an operation, or a block's end.
struct Point {
  Node block;
  std::uint32_t operation;  ///< ViewBlock::end: the block's end
  auto operator<=>(const Point&) const = default;
};

/// Points that may follow a point.
std::vector<Point> next_points(const InlineView& view, Point at) {
  if (at.operation < view.blocks[at.block].end) {
    return {{at.block, at.operation + 1}};
  }
  std::vector<Point> next;
  for (const Node to : view.flow.graph.successors[at.block]) {
    next.push_back({to, view.blocks[to].first});
  }
  return next;
}

/// True if a path from behind the call meets `wanted` before `stop`.
template <class Wanted, class Stop>
bool meets(const InlineView& view, Point call, const Wanted& wanted, const Stop& stop) {
  std::set<Point> seen;
  std::vector<Point> open = next_points(view, call);
  while (!open.empty()) {
    const Point at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) {
      continue;
    }
    if (wanted(at)) {
      return true;
    }
    if (!stop(at)) {
      for (const Point& next : next_points(view, at)) {
        open.push_back(next);
      }
    }
  }
  return false;
}

bool is_used(const InlineView& view, Value v, Point at) {
  const bool end = at.operation == view.blocks[at.block].end;
  for (std::uint32_t o = 0; o < view.operations.size(); ++o) {
    for (std::uint32_t u = view.operations[o].uses; u < view.operations[o].uses_end; ++u) {
      const bool here = view.operations[o].joins ? end && view.use_block[u] == at.block : !end && o == at.operation;
      if (here && view.uses[u] == v) {
        return true;
      }
    }
  }
  return false;
}

std::vector<AccessKind> accesses(const InlineView& view, Slot s, Point at) {
  std::vector<AccessKind> kinds;
  if (at.operation < view.blocks[at.block].end) {
    const spirv::Operation& operation = view.operations[at.operation];
    for (std::uint32_t a = operation.accesses; a < operation.accesses_end; ++a) {
      const spirv::Access& access = view.accesses[a];
      if (s >= access.first && s < access.first + access.count) {
        kinds.push_back(access.kind);
      }
    }
  }
  return kinds;
}

bool slow_value_is_live(const InlineView& view, const spirv::ViewCall& call, Value v) {
  const spirv::ValueInfo& info = view.values[v];
  const auto defines = [&](Point at) { return at.block == info.block && at.operation == info.operation; };
  const Point here{call.block, call.operation};
  const Point definition{info.block, info.operation};
  const bool before =
      here != definition && meets(
                                view, definition, [&](Point at) { return at == here; }, [](Point) { return false; });
  return before && meets(
                       view, here, [&](Point at) { return is_used(view, v, at); }, defines);
}

bool slow_slot_is_live(const InlineView& view, const spirv::ViewCall& call, Slot s) {
  const Point here{call.block, call.operation};
  const auto is = [&](Point at, std::initializer_list<AccessKind> kinds) {
    for (const AccessKind kind : accesses(view, s, at)) {
      if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) {
        return true;
      }
    }
    return false;
  };
  const auto forgets = [&](Point at) { return at == here ? false : is(at, {AccessKind::Forget}); };
  const auto reaches = [&](Point from) {
    return from != here && meets(
                               view, from, [&](Point at) { return at == here; }, forgets);
  };
  bool set = false;
  for (const Node b : view.flow.order) {
    for (std::uint32_t o = view.blocks[b].first; o < view.blocks[b].end; ++o) {
      set = set || (is({b, o}, {AccessKind::Write, AccessKind::MayWrite}) && reaches({b, o}));
      // A call that writes is reached again round a loop.
      set = set || (Point{b, o} == here && is(here, {AccessKind::Write, AccessKind::MayWrite}) &&
                    meets(
                        view, here, [&](Point at) { return at == here; }, forgets));
    }
  }
  const Point entry{0, view.blocks[0].first};
  if (view.slots[s].set_at_entry) {
    set = set || entry == here ||
          (!forgets(entry) && meets(
                                  view, entry, [&](Point at) { return at == here; }, forgets));
  }
  const bool live = meets(
      view, here, [&](Point at) { return is(at, {AccessKind::Read}); },
      [&](Point at) {
        return is(at, {AccessKind::Write, AccessKind::Forget});
      });
  const bool passed = s >= call.payload && s < call.payload + call.payload_slots;
  const bool incoming = view.slots[s].storage == spv::StorageClass::IncomingRayPayloadKHR;
  return set && live && !passed && !incoming && !is(here, {AccessKind::Write});
}

void compare(const InlineView& view, const std::string& what, std::size_t& live_items) {
  const auto fast = spirv::liveness(view);
  ASSERT_TRUE(fast);
  for (std::size_t c = 0; c < view.calls.size(); ++c) {
    std::vector<Value> values;
    for (Value v = 0; v < view.values.size(); ++v) {
      if (view.values[v].operation != spirv::kNoValue && slow_value_is_live(view, view.calls[c], v)) {
        values.push_back(v);
      }
    }
    std::vector<Slot> slots;
    for (Slot s = 0; s < view.slots.size(); ++s) {
      if (slow_slot_is_live(view, view.calls[c], s)) {
        slots.push_back(s);
      }
    }
    EXPECT_EQ(fast->calls[c].values, values) << what << ", call " << c;
    EXPECT_EQ(fast->calls[c].slots, slots) << what << ", call " << c;
    live_items += values.size() + slots.size();
  }
}

TEST(Liveness, IsThatOfPathsOnRandomViews) {
  std::mt19937 random(7);
  std::size_t live_items = 0;
  for (int n = 0; n < 1500 && !HasFailure(); ++n) {
    compare(test::RandomView(random).make(), "view " + std::to_string(n), live_items);
  }
  EXPECT_GT(live_items, 1000U);
}

TEST(Liveness, IsThatOfPathsOnShaders) {
  std::size_t live_items = 0;
  for (const char* name : {"trace.rgen", "hit_objects.rgen", "nv_trace.rgen", "call.rmiss", "shared_functions",
                           "slang_style", "report.rint", "callee.rcall", "library_style"}) {
    const auto module = test::known(test::corpus_module(name).words);
    for (std::size_t e = 0; e < module->module.entry_points.size(); ++e) {
      compare(module->view(e), name, live_items);
    }
  }
  EXPECT_GT(live_items, 20U);
}

/// Bytes that are live where a block begins: what some path from there uses, and what may have a value there.
std::uint64_t slow_live_in(const InlineView& view, Node block) {
  const Point start{block, view.blocks[block].first};
  const auto at_start = [&](Point at) { return at == start; };
  std::uint64_t bytes = 0;
  for (Value v = 0; v < view.values.size(); ++v) {
    const spirv::ValueInfo& info = view.values[v];
    const bool before =
        info.operation != spirv::kNoValue && info.block != block && view.flow.dominators.dominates(info.block, block);
    const auto used = [&](Point at) { return is_used(view, v, at); };
    const auto defines = [&](Point at) { return at == Point{info.block, info.operation}; };
    bytes += before && (used(start) || meets(view, start, used, defines)) ? info.bytes : 0;
  }
  for (Slot s = 0; s < view.slots.size(); ++s) {
    const auto is = [&](Point at, std::initializer_list<AccessKind> kinds) {
      const std::vector<AccessKind> found = accesses(view, s, at);
      return std::find_first_of(found.begin(), found.end(), kinds.begin(), kinds.end()) != found.end();
    };
    const auto forgets = [&](Point at) { return is(at, {AccessKind::Forget}); };
    const auto reads = [&](Point at) { return is(at, {AccessKind::Read}); };
    const auto ends = [&](Point at) { return is(at, {AccessKind::Write, AccessKind::Forget}); };
    const Point entry{0, view.blocks[0].first};
    bool set =
        view.slots[s].set_at_entry && (entry == start || (!forgets(entry) && meets(view, entry, at_start, forgets)));
    for (const Node b : view.flow.order) {
      for (std::uint32_t o = view.blocks[b].first; o < view.blocks[b].end; ++o) {
        set = set || (is({b, o}, {AccessKind::Write, AccessKind::MayWrite}) && meets(view, {b, o}, at_start, forgets));
      }
    }
    const bool live = reads(start) || (!ends(start) && meets(view, start, reads, ends));
    const bool incoming = view.slots[s].storage == spv::StorageClass::IncomingRayPayloadKHR;
    bytes += set && live && !incoming ? view.slots[s].bytes : 0;
  }
  return bytes;
}

TEST(Liveness, OfBlocksIsThatOfPaths) {
  std::mt19937 random(8);
  for (int n = 0; n < 800 && !HasFailure(); ++n) {
    const InlineView view = test::RandomView(random).make();
    const auto fast = spirv::liveness(view);
    ASSERT_TRUE(fast);
    for (const Node b : view.flow.order) {
      EXPECT_EQ(fast->live_in_bytes[b], slow_live_in(view, b)) << "view " << n << ", block " << b;
    }
  }
}

TEST(Recomputation, KeepsTheFirstOfValuesThatGiveEachOther) {
  // %2 = extract %1; %3 = %2 + %2; %4 = %3 + %1: %1 is kept, then nothing, one and two instructions give the others.
  spirv::Module module;
  module.bound = 20;
  spirv::Function function;
  using spv::Op;
  const auto add = [&](Op op, std::initializer_list<spirv::Word> operands) {
    function.body.emplace_back(op, operands);
  };
  module.globals.emplace_back(Op::OpTypeFloat, std::initializer_list<spirv::Word>{10, 32});
  module.globals.emplace_back(Op::OpTypeVector, std::initializer_list<spirv::Word>{11, 10, 2});
  module.globals.emplace_back(Op::OpTypePointer, std::initializer_list<spirv::Word>{12, 12, 11});
  module.globals.emplace_back(Op::OpVariable, std::initializer_list<spirv::Word>{12, 13, 12});
  module.globals.emplace_back(Op::OpTypePointer, std::initializer_list<spirv::Word>{15, 12, 10});
  module.globals.emplace_back(Op::OpVariable, std::initializer_list<spirv::Word>{15, 16, 12});
  add(Op::OpFunction, {9, 8, 0, 7});
  add(Op::OpLabel, {6});
  add(Op::OpLoad, {11, 1, 13});
  add(Op::OpCompositeExtract, {10, 2, 1, 0});
  add(Op::OpFAdd, {10, 3, 2, 2});
  add(Op::OpFAdd, {10, 4, 3, 2});
  add(Op::OpReorderThreadWithHintNV, {});
  add(Op::OpStore, {13, 1});
  add(Op::OpStore, {16, 2});
  add(Op::OpStore, {16, 3});
  add(Op::OpStore, {16, 4});
  add(Op::OpReturn, {});
  add(Op::OpFunctionEnd, {});
  module.functions.push_back(function);
  module.entry_points.emplace_back(Op::OpEntryPoint, std::initializer_list<spirv::Word>{5313, 8, 0x6E69616D, 0});
  const test::Known known(std::move(module));
  constexpr std::uint64_t kKept[] = {16, 12, 8, 8};
  for (std::uint32_t k = 0; k < 4; ++k) {
    const spirv::ModuleFacts facts = spirv::facts_of(known.analysed, k);
    ASSERT_EQ(facts.shaders.at(0).calls.size(), 1U);
    EXPECT_EQ(facts.shaders[0].calls[0].live.value_bytes, kKept[k]) << k;
    EXPECT_EQ(facts.shaders[0].calls[0].live.value_bytes + facts.shaders[0].calls[0].live.recomputed_bytes, 20U);
  }
}

}  // namespace
}  // namespace rayreplay
