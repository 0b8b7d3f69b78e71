#include "capture/layer/device/feature_chain.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include <array>
#include <cstring>

namespace rayreplay::layer {
namespace {

constexpr auto kCore12 = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
constexpr auto kAtomics = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES;
constexpr auto kAddress = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;

/// Of a future version.
struct Unknown {
  VkStructureType type = static_cast<VkStructureType>(1999999999);
  void* next = nullptr;
  std::uint64_t payload[4] = {1, 2, 3, 4};
};

VkPhysicalDeviceShaderAtomicInt64Features atomics(void* next = nullptr) {
  return {kAtomics, next, VK_FALSE, VK_TRUE};
}

std::vector<const VkBaseInStructure*> walk(const void* head) {
  std::vector<const VkBaseInStructure*> chain;
  for (const auto* at = static_cast<const VkBaseInStructure*>(head); at != nullptr; at = at->pNext) {
    chain.push_back(at);
  }
  return chain;
}

TEST(FeatureChain, EmptyChainGrowsWhatIsNeeded) {
  FeatureChain chain(nullptr);
  EXPECT_EQ(chain.head(), nullptr);
  EXPECT_TRUE(chain.enable(kAtomics, &VkPhysicalDeviceShaderAtomicInt64Features::shaderBufferInt64Atomics));
  const auto found = walk(chain.head());
  ASSERT_EQ(found.size(), 1U);
  const auto* added = reinterpret_cast<const VkPhysicalDeviceShaderAtomicInt64Features*>(found[0]);
  EXPECT_EQ(added->sType, kAtomics);
  EXPECT_EQ(added->shaderBufferInt64Atomics, VK_TRUE);
  EXPECT_EQ(added->shaderSharedInt64Atomics, VK_FALSE);
}

/// Also where the allocator gives memory that was in use.
TEST(FeatureChain, AddedStructuresEnableNothingElse) {
  constexpr VkStructureType kAddresses = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
  constexpr std::size_t kBytes = 64, kBlocks = 32;
  for (int round = 0; round < 8; ++round) {
    std::vector<std::unique_ptr<char[]>> used;
    for (std::size_t i = 0; i < kBlocks; ++i) {
      used.push_back(std::make_unique<char[]>(kBytes));
      std::fill_n(used.back().get(), kBytes, '\xff');
    }
    used.clear();
    FeatureChain chain(nullptr);
    ASSERT_TRUE(chain.enable(kAddresses, &VkPhysicalDeviceBufferDeviceAddressFeatures::bufferDeviceAddress));
    const auto* added = static_cast<const VkPhysicalDeviceBufferDeviceAddressFeatures*>(chain.head());
    EXPECT_EQ(added->bufferDeviceAddress, VK_TRUE);
    EXPECT_EQ(added->bufferDeviceAddressCaptureReplay, VK_FALSE);
    EXPECT_EQ(added->bufferDeviceAddressMultiDevice, VK_FALSE);
  }
}

TEST(FeatureChain, CopiesAreChangedAndTheOriginalIsNot) {
  auto own = atomics();
  VkPhysicalDeviceVulkan12Features core{};
  core.sType = kCore12;
  core.pNext = &own;
  core.timelineSemaphore = VK_TRUE;
  const auto own_before = own;
  FeatureChain chain(&core);
  EXPECT_TRUE(chain.enable(kAtomics, &VkPhysicalDeviceShaderAtomicInt64Features::shaderBufferInt64Atomics));
  EXPECT_TRUE(chain.enable(kCore12, &VkPhysicalDeviceVulkan12Features::bufferDeviceAddress));
  EXPECT_EQ(std::memcmp(&own, &own_before, sizeof own), 0);
  EXPECT_EQ(core.bufferDeviceAddress, VK_FALSE);
  const auto found = walk(chain.head());
  ASSERT_EQ(found.size(), 2U);
  const auto* copy = reinterpret_cast<const VkPhysicalDeviceVulkan12Features*>(found[0]);
  EXPECT_EQ(copy->bufferDeviceAddress, VK_TRUE);
  EXPECT_EQ(copy->timelineSemaphore, VK_TRUE);
  EXPECT_EQ(reinterpret_cast<const VkPhysicalDeviceShaderAtomicInt64Features*>(found[1])->shaderBufferInt64Atomics,
            VK_TRUE);
}

TEST(FeatureChain, UnknownStructuresPassThroughWhereTheyAre) {
  auto behind = atomics();
  Unknown unknown;
  unknown.next = &behind;
  VkPhysicalDeviceBufferDeviceAddressFeatures before{};
  before.sType = kAddress;
  before.pNext = &unknown;
  FeatureChain chain(&before);
  // In front of the unknown one: copied.
  EXPECT_TRUE(chain.enable(kAddress, &VkPhysicalDeviceBufferDeviceAddressFeatures::bufferDeviceAddress));
  // Behind it: cannot be switched on, and what is on stays on.
  EXPECT_FALSE(chain.enable(kAtomics, &VkPhysicalDeviceShaderAtomicInt64Features::shaderBufferInt64Atomics));
  EXPECT_TRUE(chain.enable(kAtomics, &VkPhysicalDeviceShaderAtomicInt64Features::shaderSharedInt64Atomics));
  EXPECT_EQ(before.bufferDeviceAddress, VK_FALSE);
  EXPECT_EQ(behind.shaderBufferInt64Atomics, VK_FALSE);
  const auto found = walk(chain.head());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(static_cast<const void*>(found[1]), &unknown);
  EXPECT_EQ(static_cast<const void*>(found[2]), &behind);
}

TEST(FeatureChain, ChainThatBeginsUnknown) {
  Unknown unknown;
  FeatureChain chain(&unknown);
  EXPECT_EQ(chain.head(), &unknown);
  EXPECT_TRUE(chain.enable(kAddress, &VkPhysicalDeviceBufferDeviceAddressFeatures::bufferDeviceAddress));
  const auto found = walk(chain.head());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->sType, kAddress);
  EXPECT_EQ(static_cast<const void*>(found[1]), &unknown);
  EXPECT_TRUE(chain.has(kAddress));
  EXPECT_FALSE(chain.has(kCore12));
}

TEST(FeatureChain, SizesOfKnownStructures) {
  EXPECT_EQ(device_struct_bytes(kCore12), sizeof(VkPhysicalDeviceVulkan12Features));
  EXPECT_EQ(device_struct_bytes(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2), sizeof(VkPhysicalDeviceFeatures2));
  EXPECT_EQ(device_struct_bytes(static_cast<VkStructureType>(1000470000)), 24U);  // maintenance5: one switch
  EXPECT_EQ(device_struct_bytes(static_cast<VkStructureType>(55)), 104U);         // Vulkan 1.4: 21 switches
  EXPECT_EQ(device_struct_bytes(static_cast<VkStructureType>(1999999999)), 0U);
}

}  // namespace
}  // namespace rayreplay::layer
