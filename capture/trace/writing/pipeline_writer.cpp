// The group /pipelines: what the driver says of pipelines. Internal to this room.
#include "capture/trace/writing/extras_writer.hpp"
#include "capture/trace/writing/table_writer.hpp"

namespace rayreplay::trace {
namespace {

/// Where the pieces of each item start among those of all items, and the number of all.
template <class Item, class Piece>
std::vector<std::uint64_t> offsets_of(const std::vector<Item>& items, std::vector<Piece> Item::*pieces) {
  std::vector<std::uint64_t> offsets{0};
  for (const Item& item : items) {
    offsets.push_back(offsets.back() + (item.*pieces).size());
  }
  return offsets;
}

template <class Item, class Piece>
std::vector<Piece> all_pieces(const std::vector<Item>& items, std::vector<Piece> Item::*pieces) {
  std::vector<Piece> all;
  for (const Item& item : items) {
    all.insert(all.end(), (item.*pieces).begin(), (item.*pieces).end());
  }
  return all;
}

void write_offsets(Table& table, const char* name, const std::vector<std::uint64_t>& offsets) {
  table.rows<std::uint64_t>(name, 1, offsets.data(), offsets.size());
}

/// `name` and `description` of all items.
template <class Item>
void write_names(const Table& table, const std::vector<Item>& items) {
  std::vector<std::string> names, descriptions;
  for (const Item& item : items) {
    names.push_back(item.name);
    descriptions.push_back(item.description);
  }
  hdf5::write_texts(table.group(), "name", names, table.path() + "/name");
  hdf5::write_texts(table.group(), "description", descriptions, table.path() + "/description");
}

}  // namespace

void write_pipeline_facts(hid_t root, const std::vector<PipelineFacts>& facts, ChunkPipeline& pipeline,
                          std::uint64_t chunk_rows) {
  Table pipelines(root, "pipelines", "/pipelines", pipeline, chunk_rows);
  pipelines.column<std::uint32_t>("pipeline", facts, [](const auto& f) { return f.pipeline; });
  pipelines.column<std::uint32_t>("recursion_depth", facts, [](const auto& f) { return f.recursion_depth; });
  pipelines.column<std::uint8_t>("dynamic_stack", facts, [](const auto& f) { return f.dynamic_stack ? 1 : 0; });
  pipelines.column<std::uint32_t>("set_stack", facts, [](const auto& f) { return f.set_stack; });
  write_offsets(pipelines, "group_offset", offsets_of(facts, &PipelineFacts::groups));
  write_offsets(pipelines, "executable_offset", offsets_of(facts, &PipelineFacts::executables));
  pipelines.finish();

  const auto groups = all_pieces(facts, &PipelineFacts::groups);
  Table group_table(pipelines.group(), "groups", "/pipelines/groups", pipeline, chunk_rows);
  group_table.column<std::uint16_t>("general", groups, [](const auto& g) { return g.general; });
  group_table.column<std::uint16_t>("closest_hit", groups, [](const auto& g) { return g.closest_hit; });
  group_table.column<std::uint16_t>("any_hit", groups, [](const auto& g) { return g.any_hit; });
  group_table.column<std::uint16_t>("intersection", groups, [](const auto& g) { return g.intersection; });
  group_table.column<std::uint64_t>("general_bytes", groups, [](const auto& g) { return g.general_bytes; });
  group_table.column<std::uint64_t>("closest_hit_bytes", groups, [](const auto& g) { return g.closest_hit_bytes; });
  group_table.column<std::uint64_t>("any_hit_bytes", groups, [](const auto& g) { return g.any_hit_bytes; });
  group_table.column<std::uint64_t>("intersection_bytes", groups, [](const auto& g) { return g.intersection_bytes; });
  group_table.finish();

  const auto executables = all_pieces(facts, &PipelineFacts::executables);
  Table executable_table(pipelines.group(), "executables", "/pipelines/executables", pipeline, chunk_rows);
  write_names(executable_table, executables);
  executable_table.column<std::uint32_t>("stages", executables, [](const auto& e) { return e.stages; });
  executable_table.column<std::uint32_t>("subgroup_size", executables, [](const auto& e) { return e.subgroup_size; });
  write_offsets(executable_table, "statistic_offset", offsets_of(executables, &Executable::statistics));
  executable_table.finish();

  const auto statistics = all_pieces(executables, &Executable::statistics);
  Table statistic_table(pipelines.group(), "statistics", "/pipelines/statistics", pipeline, chunk_rows);
  write_names(statistic_table, statistics);
  statistic_table.column<std::uint8_t>("format", statistics, [](const auto& s) { return s.format; });
  statistic_table.column<std::uint64_t>("value", statistics, [](const auto& s) { return s.value; });
  statistic_table.finish();
}

}  // namespace rayreplay::trace
