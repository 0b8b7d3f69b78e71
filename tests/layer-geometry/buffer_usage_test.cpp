#include "capture/layer/geometry/buffer_usage.hpp"

#include <gtest/gtest.h>

namespace rayreplay::layer::geometry {
namespace {

constexpr auto kFlags2Type = static_cast<VkStructureType>(1000470006);
struct Flags2 {
  VkStructureType type;
  const void* next;
  std::uint64_t usage;
};

VkBufferCreateInfo create_info(VkBufferUsageFlags usage, const void* next = nullptr) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = next;
  info.size = 100;
  info.usage = usage;
  return info;
}

TEST(AmendedBuffer, AddsTransferSourceOnlyWhereItIsNeeded) {
  for (const VkBufferUsageFlags usage :
       {VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR,
        VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT,
        VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT}) {
    const AmendedBuffer amended(create_info(usage));
    EXPECT_EQ(amended.info().usage, usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    EXPECT_EQ(amended.usage(), amended.info().usage);
    EXPECT_TRUE(amended.readable());
  }
  const AmendedBuffer untouched(create_info(VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT));
  EXPECT_EQ(untouched.info().usage, VkBufferUsageFlags{VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT});
  EXPECT_FALSE(untouched.readable());
}

TEST(AmendedBuffer, ChangesACopyOfTheFlags2Structure) {
  const Flags2 flags{kFlags2Type, nullptr, (std::uint64_t{1} << 40) | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, &flags, 5};
  const AmendedBuffer amended(create_info(0, &external));
  EXPECT_TRUE(amended.readable());
  const auto* first = static_cast<const VkExternalMemoryBufferCreateInfo*>(amended.info().pNext);
  ASSERT_NE(first, &external);
  EXPECT_EQ(first->handleTypes, 5U);
  const auto* second = static_cast<const Flags2*>(first->pNext);
  ASSERT_NE(second, &flags);
  EXPECT_EQ(second->type, kFlags2Type);
  EXPECT_EQ(second->usage, flags.usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
  EXPECT_EQ(external.pNext, &flags);
  EXPECT_EQ(amended.info().usage, 0U);
}

TEST(AmendedBuffer, ChainBehindTheFlagsIsKeptAsItIs) {
  const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, nullptr, 5};
  const Flags2 flags{kFlags2Type, &external, VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR};
  const AmendedBuffer amended(create_info(0, &flags));
  EXPECT_EQ(static_cast<const Flags2*>(amended.info().pNext)->next, &external);
}

TEST(AmendedBuffer, UnknownStructureBeforeTheFlagsLeavesAllAsItIs) {
  const Flags2 flags{kFlags2Type, nullptr, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
  const VkBaseInStructure unknown{static_cast<VkStructureType>(1999999000),
                                  reinterpret_cast<const VkBaseInStructure*>(&flags)};
  const AmendedBuffer amended(create_info(0, &unknown));
  EXPECT_EQ(amended.info().pNext, &unknown);
  EXPECT_FALSE(amended.readable());
  EXPECT_EQ(amended.usage(), VkBufferUsageFlags{VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT});
}

}  // namespace
}  // namespace rayreplay::layer::geometry
