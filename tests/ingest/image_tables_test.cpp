// Images of launches, from the spool to the trace; blocks of formats against the header and the registry of Vulkan.
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>

#include "capture/ingest/image_format.hpp"
#include "capture/ingest/image_tables.hpp"
#include "tests/ingest/support.hpp"

namespace rayreplay::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Name → number of every VkFormat that the header has.
std::map<std::string, std::int32_t> header_formats() {
  const std::string text = text_of(RR_VULKAN_HEADER);
  const std::size_t first = text.find("typedef enum VkFormat {");
  const std::string body = text.substr(first, text.find("} VkFormat;", first) - first);
  const std::regex line(R"((VK_FORMAT_\w+) = (\d+),)");
  std::map<std::string, std::int32_t> formats;
  for (std::sregex_iterator at(body.begin(), body.end(), line), end; at != end; ++at) {
    formats.emplace((*at)[1], std::stoi((*at)[2]));
  }
  return formats;
}

/// Name → start tag and whether there are planes, of every format of the registry.
std::map<std::string, std::pair<std::string, bool>> registry_formats() {
  const std::string text = text_of(RR_VULKAN_REGISTRY);
  std::map<std::string, std::pair<std::string, bool>> formats;
  for (std::size_t at = text.find("<format name=\""); at != std::string::npos;
       at = text.find("<format name=\"", at + 1)) {
    const std::string tag = text.substr(at, text.find('>', at) - at);
    const std::string all = text.substr(at, text.find("</format>", at) - at);
    const std::size_t name = tag.find('"') + 1;
    formats[tag.substr(name, tag.find('"', name) - name)] = {tag, all.find("<plane ") != std::string::npos};
  }
  return formats;
}

std::uint32_t number_behind(const std::string& tag, const std::string& attribute, std::uint32_t otherwise,
                            std::size_t skip = 0) {
  std::size_t at = tag.find(attribute + "=\"");
  if (at == std::string::npos) {
    return otherwise;
  }
  at += attribute.size() + 2;
  for (; skip > 0; --skip) {
    at = tag.find(',', at) + 1;
  }
  return static_cast<std::uint32_t>(std::stoul(tag.substr(at)));
}

TEST(ImageFormat, HasTheBlockOfEveryFormatOfTheHeader) {
  const auto formats = header_formats();
  const auto registry = registry_formats();
  ASSERT_GT(formats.size(), 200U);
  std::size_t planes = 0;
  for (const auto& [name, number] : formats) {
    if (name == "VK_FORMAT_UNDEFINED") {
      EXPECT_FALSE(texel_block(number).has_value());
      continue;
    }
    ASSERT_TRUE(registry.contains(name)) << name;
    const auto& [tag, has] = registry.at(name);
    EXPECT_EQ(has_planes(number), has) << name;
    planes += has ? 1 : 0;
    const TexelBlock expected{number_behind(tag, "blockExtent", 1), number_behind(tag, "blockExtent", 1, 1),
                              number_behind(tag, "blockSize", 0)};
    EXPECT_EQ(number_behind(tag, "blockExtent", 1, 2), 1U) << name;
    EXPECT_EQ(texel_block(number), has ? std::nullopt : std::optional(expected)) << name;
  }
  EXPECT_GT(planes, 20U);
  for (const std::int32_t unknown : {-1, 185, 1000054008, 1000066014, 1000156034, 2147483647}) {
    EXPECT_FALSE(texel_block(unknown).has_value()) << unknown;
    EXPECT_FALSE(has_planes(unknown)) << unknown;
  }
}

/// A compressed picture with levels, and a plain one of several samples.
spool::Images two_images() {
  spool::Images images;
  images.launch = 10;
  images.images = {{50, 145, 61, 30, 1, 6, 6, 1}, {3, 37, 8, 9, 1, 1, 1, 4}};
  images.descriptors = {{0, 0, 0, 1, 44, 0, 0, spool::ImageFilter::None},
                        {0, 2, 5, 0, 146, 5, 1, spool::ImageFilter::Linear},
                        {1, 0, 0, 0, 145, 0, 0, spool::ImageFilter::Nearest}};
  return images;
}

TEST(ImageTables, AreTheSpooledDescriptors) {
  std::vector<std::string> remarks;
  const trace::Images images = read_images(two_images(), remarks);
  EXPECT_THAT(remarks, ElementsAre());
  using enum trace::Filter;
  EXPECT_THAT(images.set, ElementsAre(0, 0, 1));
  EXPECT_THAT(images.binding, ElementsAre(0, 2, 0));
  EXPECT_THAT(images.element, ElementsAre(0, 5, 0));
  EXPECT_THAT(images.image, ElementsAre(3, 50, 50));
  EXPECT_THAT(images.width, ElementsAre(8, 61, 61));
  EXPECT_THAT(images.height, ElementsAre(9, 30, 30));
  EXPECT_THAT(images.depth, ElementsAre(1, 1, 1));
  EXPECT_THAT(images.layers, ElementsAre(1, 6, 6));
  EXPECT_THAT(images.levels, ElementsAre(1, 6, 6));
  EXPECT_THAT(images.base_layer, ElementsAre(0, 5, 0));
  EXPECT_THAT(images.base_level, ElementsAre(0, 1, 0));
  EXPECT_THAT(images.block_width, ElementsAre(1, 4, 4));
  EXPECT_THAT(images.block_height, ElementsAre(1, 4, 4));
  EXPECT_THAT(images.block_bytes, ElementsAre(16, 16, 16));
  EXPECT_THAT(images.filter, ElementsAre(None, Linear, Nearest));
  ImageNumbers numbers;
  EXPECT_THAT(numbers.numbered(images).image, ElementsAre(0, 1, 1));
  trace::Images other = images;
  other.image = {60, 50, 3};  // the last has the compressed picture's size: another image
  EXPECT_THAT(numbers.numbered(other).image, ElementsAre(2, 1, 3));
}

TEST(ImageTables, LeaveOutWhatATraceCannotHave) {
  const struct {
    void (*damage)(spool::Images&);
    const char* why;
  } cases[] = {
      {[](spool::Images& of) { of.descriptors[1].place = 2; }, "they name an image that the spool does not have"},
      {[](spool::Images& of) { of.images[1].format = 1000156002; }, "(VkFormat 1000156002) has several planes"},
      {[](spool::Images& of) { of.images[1].format = 0; }, "the image's format (VkFormat 0) is not known"},
      {[](spool::Images& of) { of.descriptors[2].format = 109; },
       "the view's format (VkFormat 109) has other blocks than the image's (VkFormat 145)"},
      {[](spool::Images& of) { of.descriptors[2].format = 999; }, "the view's format (VkFormat 999) has other blocks"},
      {[](spool::Images& of) { of.images[1].width = 0; }, "the image's size is out of range: 0x9x1"},
      {[](spool::Images& of) { of.images[1].samples = 65; }, "the image's blocks are out of range"},
      {[](spool::Images& of) { of.images[1].samples = 0; }, "the image's blocks are out of range"},
      {[](spool::Images& of) { of.descriptors[1].base_level = 6; }, "the view's first level is out of range"},
      {[](spool::Images& of) { of.descriptors[2].set = 0; }, "they are there twice, or out of order"},
  };
  for (const auto& of : cases) {
    spool::Images images = two_images();
    of.damage(images);
    std::vector<std::string> remarks;
    EXPECT_EQ(read_images(images, remarks).size(), 2U) << of.why;
    EXPECT_THAT(remarks, ElementsAre(testing::AllOf(HasSubstr("without a row in its table of images: 1 descriptor: "),
                                                    HasSubstr(of.why))));
  }
}

using ImageIngest = IngestTest;

TEST_F(ImageIngest, SaysWhatIsLeftOut) {
  test::SyntheticCapture capture = test::synthesize({.seed = 3, .launches = 2});
  spool::Images images = two_images();
  images.launch = capture.launches[1].launch.launch;
  images.images[1].format = 1000156002;
  capture.images = {images};
  const trace::Trace found = ingested(capture);
  EXPECT_EQ(found.launches[0].images.size(), 0U);
  EXPECT_THAT(found.launches[1].images.image, ElementsAre(0, 0));
  EXPECT_THAT(found.header.not_captured,
              testing::Contains(HasSubstr("launch " + std::to_string(images.launch) +
                                          ": without a row in its table of images: 1 descriptor: the image's format "
                                          "(VkFormat 1000156002) has several planes")));
}

}  // namespace
}  // namespace rayreplay::ingest
