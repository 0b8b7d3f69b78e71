// Geometry's state of a device: the Tracker for the layer, and the tables of the intercepts.
//
// Lives as long as its Device. `mutex` guards all tables; with it held only the spool and, while recording copies, the
// next layer's vkCmd… functions are called.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capture/instrument/instrument.hpp"
#include "capture/layer/device/device.hpp"
#include "capture/layer/geometry/address_map.hpp"
#include "capture/layer/geometry/copies.hpp"
#include "capture/layer/geometry/descriptor_table.hpp"
#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/geometry/image_table.hpp"
#include "capture/layer/geometry/structure_table.hpp"

namespace rayreplay::layer::geometry {

/// A descriptor with an image, at the submission of a launch.
struct LaunchImage {
  std::uint32_t set = 0, binding = 0, element = 0;
  ImageViewPointer view;
  spool::ImageFilter filter = spool::ImageFilter::None;
};

/// The structures that a launch may trace and the images that it can use: bound at recording, with their contents at
/// submission.
struct LaunchScene {
  std::vector<instrument::TraceSite> sites;
  bool sites_known = false;
  BoundSets bound;
  std::vector<StructurePointer> candidates;  ///< top-level structures, likeliest first
  bool exact = false;                        ///< these are all, as every site's descriptor is known
  std::vector<LaunchImage> images;           ///< by set, binding, element; none unless they are followed
  bool images_known = true;                  ///< false: descriptor buffers are bound
};

class State final : public Tracker {
 public:
  explicit State(Device& of);
  ~State() override;

  [[nodiscard]] VkDeviceAddress opacity_address() const override;
  void prepare_opacity(CommandRecording& recording) override;
  [[nodiscard]] std::optional<BufferRange> find(VkDeviceAddress address) override;
  [[nodiscard]] std::unique_ptr<TableSnapshot> snapshot_tables(CommandRecording& recording,
                                                               const PipelineRecord* pipeline,
                                                               const TableRegions& regions) override;
  [[nodiscard]] std::unique_ptr<TableSnapshot> snapshot_tables_indirect(const HostBuffer& command) override;
  [[nodiscard]] std::unique_ptr<LaunchBindings> launch_bindings(CommandRecording& recording,
                                                                const PipelineRecord* pipeline) override;

  /// The sets bound in the recording now, for a pipeline's sites (null: unknown).
  [[nodiscard]] static LaunchScene scene_of(const CommandRecording& recording, const PipelineRecord* pipeline);
  /// Fills candidates, exact and images from the descriptor sets' present content. The mutex is held.
  void evaluate(LaunchScene& scene);

  void find_images(LaunchScene& scene) const;
  /// Contents of a set that was bound; null if they are not known. The mutex is held.
  [[nodiscard]] const SetContents* contents_of(const BoundSets::Slot& slot) const;
  /// The spool number of a structure's content, written now if needed; kNone if the spool cannot be written. The mutex
  /// is held.
  [[nodiscard]] std::uint32_t write(StructureObject& object);
  /// Notes the gaps of a content and gives it to a structure. The mutex is held.
  void set_content(StructureObject& object, Content content);
  [[nodiscard]] std::string describe(const StructureObject& object);

  Device& device;
  std::mutex mutex;
  AddressMap buffers;
  StructureTable structures;
  ContentStore contents;
  SerializedStore serialized;
  ImageTable images;
  DescriptorTable descriptors;
  std::shared_ptr<Budget> budget;
  DeviceBuffer opacity;
};

/// Null where geometry is not tracked.
[[nodiscard]] State* state_of(Device& device);

}  // namespace rayreplay::layer::geometry
