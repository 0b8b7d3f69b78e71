#include "capture/spirv/liveness.hpp"

#include <algorithm>
#include <span>

namespace rayreplay::spirv {
namespace {

constexpr std::uint32_t kAtEnd = 0xFFFFFFFF;  ///< behind a block's last operation

struct Point {
  Node block;
  std::uint32_t operation;
  friend auto operator<=>(const Point&, const Point&) = default;
};

/// Lists by item (a value or a slot), in one array.
template <class T>
struct Lists {
  std::vector<std::uint32_t> first;
  std::vector<T> items;

  /// `each(f)` calls f(list, item) for every item, twice with the same order.
  template <class Each>
  Lists(std::size_t lists, Each&& each) : first(lists + 1, 0) {
    each([this](std::uint32_t list, const T&) { ++first[list + 1]; });
    for (std::size_t l = 0; l < lists; ++l) {
      first[l + 1] += first[l];
    }
    items.resize(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    each([&](std::uint32_t list, const T& item) { items[next[list]++] = item; });
  }
  [[nodiscard]] std::span<const T> of(std::uint32_t list) const {
    return std::span(items).subspan(first[list], first[list + 1] - first[list]);
  }
};

/// An access to one slot.
struct Event {
  Node block;
  std::uint32_t operation;
  AccessKind kind;
};

bool ends(AccessKind kind) {
  return kind == AccessKind::Write || kind == AccessKind::Forget;
}
bool set_after(AccessKind kind, bool before) {
  return kind != AccessKind::Forget && (before || kind != AccessKind::Read);
}
bool is_incoming(spv::StorageClass storage) {
  return storage == spv::StorageClass::IncomingRayPayloadKHR || storage == spv::StorageClass::IncomingCallableDataKHR;
}

/// First event of a block that concerns the value which the slot has where the block begins.
enum class First : std::uint8_t { Nothing, Read, Ended };

First first_of(std::span<const Event> events) {
  for (const Event& e : events) {
    if (e.kind == AccessKind::Read) {
      return First::Read;
    }
    if (ends(e.kind)) {
      return First::Ended;
    }
  }
  return First::Nothing;
}

/// A set of blocks that is emptied in constant time.
class BlockSet {
 public:
  explicit BlockSet(std::size_t blocks) : stamp_(blocks, 0) {}
  void clear() {
    ++now_;
  }
  /// True if the block was not in the set.
  bool add(Node block) {
    const bool is_new = stamp_[block] != now_;
    stamp_[block] = now_;
    return is_new;
  }
  [[nodiscard]] bool has(Node block) const {
    return stamp_[block] == now_;
  }

 private:
  std::vector<std::uint32_t> stamp_;
  std::uint32_t now_ = 1;
};

class Walk {
 public:
  explicit Walk(const InlineView& view)
      : view_(view),
        calls_in_(view.blocks.size()),
        in_(view.blocks.size()),
        out_(view.blocks.size()),
        seen_(view.blocks.size()),
        set_(view.blocks.size()),
        left_(view.blocks.size()),
        last_use_(view.blocks.size(), 0),
        events_of_(view.blocks.size()) {
    for (std::uint32_t c = 0; c < view.calls.size(); ++c) {
      calls_in_[view.calls[c].block].push_back(c);
    }
    result_.calls.resize(view.calls.size());
    result_.live_in_bytes.assign(view.blocks.size(), 0);
  }

  std::optional<Liveness> run() {
    const Lists<Point> uses(view_.values.size(), [this](auto&& add) { each_use(add); });
    for (Value v = 0; v < view_.values.size(); ++v) {
      if (!uses.of(v).empty()) {
        walk_value(v, uses.of(v));
      }
      if (steps_ > kMostLiveSteps) {
        return std::nullopt;
      }
    }
    const Lists<Event> events(view_.slots.size(), [this](auto&& add) { each_event(add); });
    for (Slot s = 0; s < view_.slots.size(); ++s) {
      if (!events.of(s).empty()) {
        walk_slot(s, events.of(s));
      }
      if (steps_ > kMostLiveSteps) {
        return std::nullopt;
      }
    }
    result_.steps = steps_;
    return std::move(result_);
  }

 private:
  template <class Add>
  void each_use(Add&& add) const {
    for (const Node b : view_.flow.order) {
      for (std::uint32_t o = view_.blocks[b].first; o < view_.blocks[b].end; ++o) {
        const Operation& operation = view_.operations[o];
        for (std::uint32_t u = operation.uses; u < operation.uses_end; ++u) {
          const Node from = operation.joins ? view_.use_block[u] : b;
          if (view_.uses[u] != kNoValue && from != kNoNode && view_.flow.reached(from)) {
            add(view_.uses[u], Point{from, operation.joins ? kAtEnd : o});
          }
        }
      }
    }
  }

  template <class Add>
  void each_event(Add&& add) const {
    for (const Node b : view_.flow.order) {
      for (std::uint32_t o = view_.blocks[b].first; o < view_.blocks[b].end; ++o) {
        for (std::uint32_t a = view_.operations[o].accesses; a < view_.operations[o].accesses_end; ++a) {
          const Access& access = view_.accesses[a];
          for (Slot s = access.first; s < access.first + access.count; ++s) {
            add(s, Event{b, o, access.kind});
          }
        }
      }
    }
  }

  void start() {
    in_.clear();
    out_.clear();
    seen_.clear();
    open_.clear();
    touched_.clear();
  }

  /// From the blocks that are open, at whose starts the item is live, up to the blocks whose ends it does not cross.
  template <class Stops>
  void spread_backwards(const Stops& stops) {
    while (!open_.empty()) {
      const Node block = open_.back();
      open_.pop_back();
      if (!in_.add(block)) {
        continue;
      }
      touched_.push_back(block);
      for (const Node from : view_.flow.graph.predecessors[block]) {
        ++steps_;
        if (view_.flow.reached(from) && out_.add(from)) {
          touched_.push_back(from);
          if (!stops(from)) {
            open_.push_back(from);
          }
        }
      }
    }
  }

  void walk_value(Value v, std::span<const Point> uses) {
    start();
    const ValueInfo& info = view_.values[v];
    steps_ += uses.size();
    for (const Point& use : uses) {
      last_use_[use.block] = 0;
    }
    for (const Point& use : uses) {
      last_use_[use.block] = std::max(last_use_[use.block], use.operation);
      touched_.push_back(use.block);
      if (use.block != info.block) {
        open_.push_back(use.block);
      }
    }
    const std::size_t used = touched_.size();
    spread_backwards([&](Node block) { return block == info.block; });
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      const Node block = touched_[i];
      if (!seen_.add(block)) {
        continue;
      }
      result_.live_in_bytes[block] += in_.has(block) ? info.bytes : 0;
      for (const std::uint32_t c : calls_in_[block]) {
        ++steps_;
        const std::uint32_t at = view_.calls[c].operation;
        const bool before = block == info.block ? info.operation < at : in_.has(block);
        // The first blocks of the list are those with uses, each before any other mention of it.
        if (before && (out_.has(block) || (i < used && last_use_[block] > at))) {
          result_.calls[c].values.push_back(v);
        }
      }
    }
  }

  void walk_slot(Slot s, std::span<const Event> events) {
    start();
    const SlotInfo& info = view_.slots[s];
    steps_ += events.size();
    blocks_.clear();
    for (std::size_t first = 0, end = 0; first < events.size(); first = end) {
      while (end < events.size() && events[end].block == events[first].block) {
        ++end;
      }
      blocks_.push_back(events[first].block);
      events_of_[events[first].block] = events.subspan(first, end - first);
    }
    for (const Node block : blocks_) {
      touched_.push_back(block);
      if (first_of(events_of_[block]) == First::Read) {
        open_.push_back(block);
      }
    }
    spread_backwards([&](Node block) { return first_of(events_of_[block]) == First::Ended; });
    follow_writes(info);
    for (const Node block : touched_) {
      if (!seen_.add(block) || is_incoming(info.storage)) {
        continue;
      }
      result_.live_in_bytes[block] += in_.has(block) && set_.has(block) ? info.bytes : 0;
      if (!calls_in_[block].empty()) {
        look_at_calls(s, block);
      }
    }
    for (const Node block : blocks_) {
      events_of_[block] = {};
    }
  }

  /// The slot's state at each of a block's calls: a sweep forwards for what is set, one backwards for what is read.
  void look_at_calls(Slot s, Node block) {
    const std::vector<std::uint32_t>& calls = calls_in_[block];
    const std::span<const Event> events = events_of_[block];
    steps_ += calls.size() + events.size();
    std::vector<bool> kept(calls.size(), false);
    bool set = set_.has(block);
    std::size_t e = 0;
    for (std::size_t c = 0; c < calls.size(); ++c) {
      for (; e < events.size() && events[e].operation < view_.calls[calls[c]].operation; ++e) {
        set = set_after(events[e].kind, set);
      }
      kept[c] = set;
    }
    bool live = out_.has(block);
    e = events.size();
    for (std::size_t c = calls.size(); c-- > 0;) {
      const ViewCall& call = view_.calls[calls[c]];
      for (; e > 0 && events[e - 1].operation > call.operation; --e) {
        live = events[e - 1].kind == AccessKind::Read || (live && !ends(events[e - 1].kind));
      }
      bool written = false;
      for (std::size_t own = e; own > 0 && events[own - 1].operation == call.operation; --own) {
        written = written || events[own - 1].kind == AccessKind::Write;
      }
      const bool passed = s >= call.payload && s < call.payload + call.payload_slots;
      if (kept[c] && live && !written && !passed) {
        result_.calls[calls[c]].slots.push_back(s);
      }
    }
  }

  /// Blocks where the slot may have a value when they begin.
  void follow_writes(const SlotInfo& info) {
    set_.clear();
    left_.clear();
    const auto follow = [&](Node block) {
      bool set = set_.has(block);
      for (const Event& e : events_of_[block]) {
        set = set_after(e.kind, set);
      }
      if (set && left_.add(block)) {
        open_.push_back(block);
      }
    };
    if (info.set_at_entry && info.storage != spv::StorageClass::Function) {
      set_.add(0);
      follow(0);
    }
    for (const Node block : blocks_) {
      follow(block);
    }
    while (!open_.empty()) {
      const Node block = open_.back();
      open_.pop_back();
      for (const Node to : view_.flow.graph.successors[block]) {
        steps_ += 1 + events_of_[to].size();
        if (set_.add(to)) {
          follow(to);
        }
      }
    }
  }

  const InlineView& view_;
  std::vector<std::vector<std::uint32_t>> calls_in_;  ///< by block, ascending operations
  BlockSet in_, out_;                                 ///< live where a block begins, and where it ends
  BlockSet seen_;
  BlockSet set_, left_;  ///< the slot may have a value where a block begins, and where it ends
  std::vector<std::uint32_t> last_use_;
  std::vector<std::span<const Event>> events_of_;
  std::vector<Node> open_, touched_, blocks_;
  std::uint64_t steps_ = 0;
  Liveness result_;
};

constexpr std::uint32_t kNever = 0x3FFFFFFF;

/// Instructions that an operation needs to be done again from its operands; kNever: it cannot be.
std::uint32_t issued_again(const Operation& operation, const Instruction& i, InstructionClass is) {
  if (operation.joins || operation.accesses != operation.accesses_end || operation.result == kNoValue) {
    return kNever;
  }
  switch (is) {
    case InstructionClass::Move:
      return i.is(spv::Op::OpLoad) ? kNever : 0;
    case InstructionClass::Arithmetic:
    case InstructionClass::Special:
      return 1;
    default:
      return kNever;
  }
}

}  // namespace

std::optional<Liveness> liveness(const InlineView& view) {
  return Walk(view).run();
}

Recomputation::Recomputation(const InlineView& view, const Analysed& module, std::uint32_t most_instructions)
    : view_(view), most_(std::min(most_instructions, kNever - 1)), cost_(view.values.size(), kNever) {
  issued_.reserve(view.operations.size());
  for (const Operation& operation : view.operations) {
    const Instruction& i = module.module.functions[operation.place.function].body[operation.place.instruction];
    issued_.push_back(issued_again(operation, i, module.classes.of(i)));
  }
}

LiveState Recomputation::state(const LiveSet& live) {
  std::fill(cost_.begin(), cost_.end(), kNever);
  std::vector<bool> is_live(cost_.size(), false);
  for (const Value v : live.values) {
    is_live[v] = true;
  }
  LiveState state;
  // Definitions before uses: an operation's operands are known, but for values that a loop carries, which are joins.
  for (const Node b : view_.flow.order) {
    for (std::uint32_t o = view_.blocks[b].first; o < view_.blocks[b].end; ++o) {
      const Operation& operation = view_.operations[o];
      if (operation.result == kNoValue) {
        continue;
      }
      std::uint32_t cost = issued_[o];
      for (std::uint32_t u = operation.uses; u < operation.uses_end && cost < kNever; ++u) {
        cost = std::min(cost + (view_.uses[u] == kNoValue ? 0 : cost_[view_.uses[u]]), kNever);
      }
      const ValueInfo& info = view_.values[operation.result];
      if (is_live[operation.result]) {
        is_live[operation.result] = false;
        if (cost > most_) {
          cost = 0;
          state.value_bytes += info.bytes;
          state.opaque += info.opaque;
        } else {
          state.recomputed_bytes += info.bytes;
        }
      }
      cost_[operation.result] = cost;
    }
  }
  for (const Slot s : live.slots) {
    state.slot_bytes += view_.slots[s].bytes;
    state.opaque += view_.slots[s].opaque;
  }
  return state;
}

}  // namespace rayreplay::spirv
