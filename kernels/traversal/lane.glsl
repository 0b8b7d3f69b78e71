// One ray's depth-first traversal in steps: traversal/warp/lane.hpp in GLSL, without speculation, with the steps of
// traversal/kernels/stack_traversal.hpp.
//
// Further constants beside those of search.glsl and nodes.glsl: kSorted, kStack (entries of local memory), kThreads. A
// stack entry is an entry distance and a child's word. The first kOnChip entries of a lane are in shared memory.
const uint kOnChip = 6u;

shared uvec2 near_stack[kOnChip * kThreads];
uvec2 far_stack[kStack];

uint held;      // entries that wait, of both levels
uint base;      // where those of this level start
uint node;      // the record to be visited, if has_node
bool has_node;
uint leaf_next;  // references of a leaf that are left
uint leaf_end;
bool in_instance;
bool space_is_stale;
uint suspended_next;  // of the top level, while in an instance
uint suspended_end;
uint64_t nodes;        // of this level
uint64_t level_items;  // of this level: references of instances, or primitives

void stack_put(uint at, uvec2 entry) {
  if (at < kOnChip) {
    near_stack[at * kThreads + gl_LocalInvocationIndex] = entry;
  } else {
    far_stack[at - kOnChip] = entry;
  }
}
uvec2 stack_get(uint at) {
  return at < kOnChip ? near_stack[at * kThreads + gl_LocalInvocationIndex] : far_stack[at - kOnChip];
}

void take_child(uint word) {
  const uint kShift = 32u - kCountBits;
  const uint count = word >> kShift;
  const uint index = word & ((1u << kShift) - 1u);
  if (count == 0u) {
    node = index;
    has_node = true;
  } else {
    ++counters.leaves;
    leaf_next = index;
    leaf_end = index + count;
  }
}

void start_level(uint64_t level_nodes, uint64_t items) {
  nodes = level_nodes;
  level_items = items;
  base = held;
  leaf_next = 0u;
  leaf_end = 0u;
  node = 0u;
  has_node = true;
}

void begin_lane(uint ray_row) {
  held = 0u;
  base = 0u;
  in_instance = false;
  has_node = false;
  leaf_next = 0u;
  leaf_end = 0u;
  space_is_stale = true;
  if (begin_search(ray_row) && !done) {
    SceneRef scene = SceneRef(push.scene);
    start_level(scene.it.top_nodes, scene.it.top_references);
  }
}

bool wants_leaf() {
  return leaf_next != leaf_end;
}

// Makes `space` that of the level. Called in one place of a kernel, before a step: the code is long.
void refresh_space() {
  if (space_is_stale) {
    space_is_stale = false;
    space = make_box_ray(visited_ray(), t_min);
  }
}

// Finds the lane's next possible step.
void settle() {
  while (true) {
    if (done) {
      held = 0u;
      leaf_next = leaf_end;
      has_node = false;
      return;
    }
    while (!has_node && !wants_leaf() && held > base) {
      const uvec2 top = stack_get(--held);
      if (!(uintBitsToFloat(top.x) > limit)) {
        take_child(top.y);
      }
    }
    if (has_node || wants_leaf() || !in_instance) {
      return;
    }
    // The instance is finished: back to its leaf of the top level.
    in_instance = false;
    space_is_stale = !visit.identity;
    visit.identity = true;
    SceneRef scene = SceneRef(push.scene);
    nodes = scene.it.top_nodes;
    level_items = scene.it.top_references;
    base = 0u;
    leaf_next = suspended_next;
    leaf_end = suspended_end;
  }
}

// Moves to the first child and pushes the others.
void descend() {
  const uint count = uint(bitCount(met));
  if (count == 0u) {
    return;
  }
  counters.stack_depth = max(counters.stack_depth, held + count - 1u);
  const int kWidth = kLayout == kBinary ? 2 : 8;
  if (count == 1u) {
    take_child(child_word(findLSB(met)));
    return;
  }
  // Ranks of the met children by entry, ties by slot. Four bits per slot.
  uint ranks = 0x76543210u;
  if (kSorted != 0u) {
    ranks = 0u;
    [[unroll]] for (int i = 0; i < 8; ++i) {
      [[unroll]] for (int j = i + 1; j < 8; ++j) {
        if (j < kWidth) {
          ranks += entry_of[j] < entry_of[i] ? 1u << (4 * i) : 1u << (4 * j);
        }
      }
    }
  }
  [[unroll]] for (int slot = 0; slot < 8; ++slot) {
    if (slot < kWidth && (met >> slot & 1u) != 0u) {
      const uint rank =
          kSorted != 0u ? bitfieldExtract(ranks, slot * 4, 4) : uint(bitCount(met & ((1u << slot) - 1u)));
      const uint word = child_word(slot);
      if (rank == 0u) {
        take_child(word);
      } else {
        stack_put(held + count - 1u - rank, uvec2(floatBitsToUint(entry_of[slot]), word));
      }
    }
  }
  held += count - 1u;
}

// The caller refreshes the space before and settles afterwards.
void step_node() {
  has_node = false;
  ++counters.nodes;
  if (kLog != 0u) {
    SceneRef scene = SceneRef(push.scene);
    const uint64_t memory =
        in_instance ? LevelRef(scene.it.levels).at[visit.blas].memory_nodes : scene.it.memory_top_nodes;
    const uint bytes = kLayout == kCompressed8 ? 80u : kLayout == kWide8 ? 256u : 64u;
    log_access(memory + uint64_t(node) * bytes, bytes, kKindNode);
  }
  meet_node(nodes, node);
  counters.boxes += boxes;
  descend();
}

void step_leaf() {
  const uint place = leaf_next++;
  if (in_instance) {
    test_primitive(level_items, place);
  } else if (enter(Words(level_items).at[place])) {
    in_instance = true;
    suspended_next = leaf_next;
    suspended_end = leaf_end;
    space_is_stale = !visit.identity;
    LevelRef level = LevelRef(SceneRef(push.scene).it.levels);
    start_level(level.at[visit.blas].nodes, level.at[visit.blas].primitives);
  }
}
