#include "capture/layer/geometry/state.hpp"

#include <unistd.h>

#include <utility>

#include "capture/layer/geometry/structure_writer.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

/// 2 Mi words for instances and geometries of a top level (observe_all).
constexpr VkDeviceSize kOpacityBytes = VkDeviceSize{8} << 20U;

/// Contents may hold half of the machine's memory, copies in flight a quarter.
std::uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes)
                                : std::uint64_t{4} << 30U;
}

}  // namespace

std::unique_ptr<Tracker> Tracker::create(Device& device) {
  std::unique_ptr<Tracker> tracker;
  attempt("tracking geometry", [&] { tracker = std::make_unique<State>(device); });
  return tracker;
}

State* state_of(Device& device) {
  return static_cast<State*>(device.geometry.get());
}

State::State(Device& of)
    : device(of),
      contents(physical_memory() / 2),
      descriptors(options().profile_memory ? &images : nullptr),
      budget(std::make_shared<Budget>()) {
  budget->limit = physical_memory() / 4;
  if (options().observe_all) {
    opacity =
        device.allocate_device(kOpacityBytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                                  VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
    if (opacity.address == 0) {
      note("observe-all: no memory for the opacity table: opaque geometry under any-hit shaders is not observed");
    }
  }
}

State::~State() {
  if (opacity.buffer != VK_NULL_HANDLE) {
    device.free(opacity);
  }
}

VkDeviceAddress State::opacity_address() const {
  return opacity.address;
}

std::optional<BufferRange> State::find(VkDeviceAddress address) {
  const std::scoped_lock lock(mutex);
  const auto place = buffers.find(address);
  if (!place || !place->readable) {
    return std::nullopt;
  }
  return BufferRange{place->buffer, place->offset, place->available};
}

std::string State::describe(const StructureObject& object) {
  const std::string name = device.name_of(reinterpret_cast<std::uint64_t>(object.handle));
  return std::string(object.top_level ? "top-level" : "bottom-level") + " acceleration structure" +
         (name.empty() ? "" : " \"" + name + "\"");
}

void State::set_content(StructureObject& object, Content content) {
  object.top_level = content.top_level;
  const std::shared_ptr<Content> kept = contents.intern(std::move(content));
  if (!kept->missing.empty()) {
    note(describe(object) + ": " + kept->missing);
  }
  for (const spool::Geometry& geometry : kept->geometries) {
    if (!geometry.missing.empty()) {
      note(describe(object) + ": a geometry's data: " + geometry.missing);
      break;
    }
  }
  structures.set_content(object, kept);
}

std::uint32_t State::write(StructureObject& object) {
  if (object.content == nullptr) {
    Content unknown;
    unknown.top_level = object.top_level;
    unknown.missing = "its build was not seen";
    set_content(object, std::move(unknown));
  } else if (std::shared_ptr<Content> content = structures.refreshed(object, contents)) {
    note(describe(object) + ": a bottom level was built again after it; what that holds now is taken");
    content->holder = object.content->holder;
    object.content = std::move(content);
  }
  const auto name_of = [&](const Content& content) { return device.name_of(content.holder); };
  return write_structure(*object.content, device.number, contents, name_of,
                         [](const spool::Structure& block) { return spool_block(block); });
}

}  // namespace rayreplay::layer::geometry
