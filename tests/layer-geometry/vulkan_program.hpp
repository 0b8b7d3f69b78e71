// A small Vulkan ray-tracing application for tests: it runs under the capture layer and builds what a test asks for.
//
// Contract: every call that fails throws, so that a test fails and is never skipped. Objects live until the program
// ends. Commands are collected by `commands()` and run by `run()`, which waits for them.
#pragma once

#include <vulkan/vulkan.h>

#include <algorithm>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/layer-geometry/spool_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::layer::geometry {

struct TestBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize bytes = 0;
  VkDeviceAddress address = 0;
  std::uint8_t* data = nullptr;  ///< mapped
};

struct TestStructure {
  VkAccelerationStructureKHR handle = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
  TestBuffer memory;
};

/// A structure's geometries and ranges, as the API takes them.
struct BuildRequest {
  VkAccelerationStructureTypeKHR type = VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR;
  VkBuildAccelerationStructureFlagsKHR flags = 0;
  std::vector<VkAccelerationStructureGeometryKHR> geometries;
  std::vector<VkAccelerationStructureBuildRangeInfoKHR> ranges;

  void add(const VkAccelerationStructureGeometryKHR& geometry, const VkAccelerationStructureBuildRangeInfoKHR& range) {
    geometries.push_back(geometry);
    ranges.push_back(range);
  }
};

using Environment = std::vector<std::pair<std::string, std::string>>;

class VulkanProgram {
 public:
  /// environment: RAYREPLAY_CAPTURE_… of the layer, besides the spool's folder.
  explicit VulkanProgram(const Environment& environment = {});
  VulkanProgram(const VulkanProgram&) = delete;
  VulkanProgram& operator=(const VulkanProgram&) = delete;
  ~VulkanProgram();

  TestBuffer buffer(VkDeviceSize bytes, VkBufferUsageFlags usage = kBuildInput);
  template <class T>
  TestBuffer filled(const std::vector<T>& values, VkDeviceSize offset = 0, VkBufferUsageFlags usage = kBuildInput) {
    TestBuffer made = buffer(offset + values.size() * sizeof(T), usage);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T), made.data + offset);
    return made;
  }

  /// Before the program ends, with its memory.
  void destroy(const TestBuffer& buffer);

  /// The command buffer that is being recorded; begun if none is.
  VkCommandBuffer commands();
  /// Submits it and waits.
  void run();
  /// Submits it again and waits.
  void run_again();
  void barrier();

  TestStructure create_structure(VkAccelerationStructureTypeKHR type, VkDeviceSize bytes);
  /// Same memory and place as `at`.
  TestStructure create_structure_at(VkAccelerationStructureTypeKHR type, const TestStructure& at);
  void destroy(TestStructure& structure);
  VkAccelerationStructureBuildSizesInfoKHR sizes(const BuildRequest& request);
  /// Records a build; from: an update of it.
  void record_build(const BuildRequest& request, const TestStructure& to, const TestStructure* from = nullptr);
  /// Creates, builds and waits.
  TestStructure built(const BuildRequest& request);

  VkDescriptorSet descriptor_set(VkAccelerationStructureKHR scene);
  void write_scene(VkDescriptorSet set, VkAccelerationStructureKHR scene);
  void bind(VkDescriptorSet set);
  void bind_pipeline();
  /// Records a launch of 8×8 threads.
  void record_launch();
  /// What the shaders counted: 1 miss, 2 closest hit, 16 any-hit; for the last launch.
  std::vector<std::uint32_t> results();
  /// Binds a set with this structure, launches and waits.
  void launch(const TestStructure& scene);

  [[nodiscard]] SpoolFile spool() const;

  static constexpr VkBufferUsageFlags kBuildInput =
      VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  static constexpr std::uint32_t kSide = 8;

  VkDevice device = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkPipelineLayout pipeline_layout = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  std::vector<std::uint8_t> group_handles;  ///< of ray generation, miss, hit
  TestBuffer tables;                        ///< a record each 64 bytes: ray generation, miss, hit

#define RR_TEST_FUNCTIONS(X)                     \
  X(CmdBuildAccelerationStructuresKHR)           \
  X(CmdCopyAccelerationStructureKHR)             \
  X(CmdCopyAccelerationStructureToMemoryKHR)     \
  X(CmdCopyMemoryToAccelerationStructureKHR)     \
  X(CmdTraceRaysKHR)                             \
  X(CmdTraceRaysIndirect2KHR)                    \
  X(CmdWriteAccelerationStructuresPropertiesKHR) \
  X(CmdPushDescriptorSetKHR)                     \
  X(CreateAccelerationStructureKHR)              \
  X(CreateRayTracingPipelinesKHR)                \
  X(DestroyAccelerationStructureKHR)             \
  X(GetAccelerationStructureBuildSizesKHR)       \
  X(GetAccelerationStructureDeviceAddressKHR)    \
  X(GetRayTracingShaderGroupHandlesKHR)          \
  X(SetDebugUtilsObjectNameEXT)
#define X(name) PFN_vk##name name = nullptr;
  RR_TEST_FUNCTIONS(X)
#undef X

  /// One query of a structure's property, after its build.
  std::uint64_t property(const TestStructure& structure, VkQueryType type);
  void name(VkAccelerationStructureKHR structure, const char* text);

 private:
  void create_instance();
  void create_device();
  void create_pipeline();
  void submit();

  test::TemporaryFolder folder_;
  std::vector<std::string> variables_;  ///< of the environment, set for this program
  VkInstance instance_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::uint32_t family_ = 0;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  bool recording_ = false;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  TestBuffer results_;
  std::set<VkAccelerationStructureKHR> structures_;  ///< alive
  std::map<VkBuffer, VkDeviceMemory> buffers_;       ///< alive, with their memory
  std::vector<std::function<void()>> cleanup_;
};

/// Geometry descriptions.
VkAccelerationStructureGeometryKHR triangles(VkDeviceAddress vertices, VkFormat format, VkDeviceSize stride,
                                             std::uint32_t max_vertex, VkIndexType index_type = VK_INDEX_TYPE_NONE_KHR,
                                             VkDeviceAddress indices = 0, VkDeviceAddress transform = 0,
                                             VkGeometryFlagsKHR flags = 0);
VkAccelerationStructureGeometryKHR boxes(VkDeviceAddress data, VkDeviceSize stride, VkGeometryFlagsKHR flags = 0);
VkAccelerationStructureGeometryKHR instances(VkDeviceAddress data, bool pointers = false);
VkAccelerationStructureInstanceKHR instance_of(const TestStructure& bottom, std::uint32_t custom_index = 0,
                                               std::uint8_t flags = 0);

}  // namespace rayreplay::layer::geometry
