#include "capture/layer/geometry/address_map.hpp"

#include <gtest/gtest.h>

#include <random>

namespace rayreplay::layer::geometry {
namespace {

VkBuffer buffer_number(std::uint64_t number) {
  return reinterpret_cast<VkBuffer>(number);
}

AddressMap::Buffer buffer(std::uint64_t number, std::uint64_t address, std::uint64_t size, bool readable = true) {
  return {buffer_number(number), size, VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, address, readable};
}

TEST(AddressMap, FindsTheBufferAndWhatIsLeftOfIt) {
  AddressMap map;
  map.add(buffer(1, 1000, 100));
  map.add(buffer(2, 1100, 50));
  EXPECT_FALSE(map.find(0));
  EXPECT_FALSE(map.find(999));
  ASSERT_TRUE(map.find(1000));
  EXPECT_EQ(map.find(1000)->buffer, buffer_number(1));
  EXPECT_EQ(map.find(1099)->offset, 99U);
  EXPECT_EQ(map.find(1099)->available, 1U);
  EXPECT_EQ(map.find(1100)->buffer, buffer_number(2));
  EXPECT_FALSE(map.find(1150));
}

TEST(AddressMap, AddressMayComeLaterAndChange) {
  AddressMap map;
  map.add(buffer(1, 0, 100));
  EXPECT_FALSE(map.find(500));
  map.set_address(buffer_number(1), 500);
  EXPECT_TRUE(map.find(599));
  map.set_address(buffer_number(1), 5000);
  EXPECT_FALSE(map.find(599));
  EXPECT_TRUE(map.find(5000));
  map.set_address(buffer_number(9), 1);  // unknown: nothing happens
  EXPECT_FALSE(map.find(1));
}

TEST(AddressMap, RemovedBuffersAreGoneAndHandlesMayComeAgain) {
  AddressMap map;
  map.add(buffer(1, 1000, 1 << 20));
  map.add(buffer(2, 5000, 10));
  map.remove(buffer_number(1));
  EXPECT_FALSE(map.find(1000));
  EXPECT_TRUE(map.find(5009));
  map.add(buffer(2, 9000, 10));  // created again, destruction unseen
  EXPECT_FALSE(map.find(5009));
  EXPECT_TRUE(map.find(9000));
  map.remove(buffer_number(2));
  map.remove(buffer_number(2));
  EXPECT_FALSE(map.find(9000));
}

TEST(AddressMap, AliasedBuffersGiveTheOneThatReachesFurthestAndCanBeRead) {
  AddressMap map;
  map.add(buffer(1, 1000, 1000));
  map.add(buffer(2, 1000, 100));
  map.add(buffer(3, 1500, 2000));
  map.add(buffer(4, 1000, 9000, false));
  EXPECT_EQ(map.find(1050)->buffer, buffer_number(1));
  EXPECT_EQ(map.find(1600)->buffer, buffer_number(3));
  EXPECT_EQ(map.find(9000)->buffer, buffer_number(4));
  EXPECT_FALSE(map.find(9000)->readable);
}

TEST(AddressMap, AddressesAtTheEndOfSpaceDoNotOverflow) {
  AddressMap map;
  const std::uint64_t last = ~std::uint64_t{0};
  map.add(buffer(1, last - 9, 100));
  map.add(buffer(2, 1, last));
  EXPECT_TRUE(map.find(last));
  EXPECT_EQ(map.find(last)->offset, 9U);
  EXPECT_EQ(map.find(5)->buffer, buffer_number(2));
}

TEST(AddressMap, AgreesWithASearchOfAllBuffers) {
  std::mt19937 random(7);
  AddressMap map;
  std::map<std::uint64_t, AddressMap::Buffer> all;
  for (int step = 0; step < 5000; ++step) {
    const std::uint64_t number = random() % 64 + 1;
    if (random() % 3 == 0) {
      map.remove(buffer_number(number));
      all.erase(number);
    } else {
      const auto made = buffer(number, random() % 4000 + 1, random() % 300 + 1, random() % 4 != 0);
      map.add(made);
      all[number] = made;
    }
    const std::uint64_t address = random() % 4500;
    const auto found = map.find(address);
    std::uint64_t most[2] = {0, 0};
    for (const auto& [n, b] : all) {
      if (address >= b.address && address - b.address < b.size) {
        most[b.readable] = std::max(most[b.readable], b.size - (address - b.address));
      }
    }
    ASSERT_EQ(found.has_value(), most[0] != 0 || most[1] != 0);
    if (found) {
      EXPECT_EQ(found->readable, most[1] != 0);
      EXPECT_EQ(found->available, most[1] != 0 ? most[1] : most[0]);
    }
  }
}

}  // namespace
}  // namespace rayreplay::layer::geometry
