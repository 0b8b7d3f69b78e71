#include "capture/layer/geometry/structure_writer.hpp"

#include <atomic>
#include <cstring>
#include <utility>

namespace rayreplay::layer::geometry {
namespace {

std::atomic<std::uint32_t> next_structure{0};

spool::Instance instance_of(const TopInstance& from) {
  spool::Instance instance;
  static_assert(sizeof instance.transform == sizeof from.raw.transform);
  std::memcpy(instance.transform, &from.raw.transform, sizeof instance.transform);
  instance.custom_index = from.raw.instanceCustomIndex;
  instance.hit_group_offset = from.raw.instanceShaderBindingTableRecordOffset;
  instance.mask = from.raw.mask;
  instance.flags = from.raw.flags;
  instance.structure = from.bottom != nullptr                         ? from.bottom->id
                       : from.raw.accelerationStructureReference == 0 ? spool::kNullReference
                                                                      : spool::kNone;
  return instance;
}

}  // namespace

std::uint32_t write_structure(Content& content, std::uint32_t device, ContentStore& store, const NameOfContent& name_of,
                              const StructureSink& sink) {
  if (content.id != spool::kNone) {
    return content.id;
  }
  for (const TopInstance& instance : content.instances) {
    // One level only: a bottom level has no references, and a top level in a top level is invalid.
    if (instance.bottom != nullptr && !instance.bottom->top_level && instance.bottom->id == spool::kNone &&
        write_structure(*instance.bottom, device, store, name_of, sink) == spool::kNone) {
      return spool::kNone;
    }
  }
  spool::Structure block;
  block.device = device;
  block.structure = next_structure.fetch_add(1);
  block.top_level = content.top_level ? 1 : 0;
  block.flags = content.flags;
  block.name = name_of(content);
  block.missing = content.missing;
  block.instances.reserve(content.instances.size());
  for (const TopInstance& instance : content.instances) {
    block.instances.push_back(instance_of(instance));
  }
  std::swap(block.geometries, content.geometries);  // moved into the block during the write
  const bool written = sink(block);
  std::swap(block.geometries, content.geometries);
  if (!written) {
    return spool::kNone;
  }
  content.id = block.structure;
  store.release_bytes(content);
  return content.id;
}

}  // namespace rayreplay::layer::geometry
