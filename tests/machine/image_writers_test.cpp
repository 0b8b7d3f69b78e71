// Shaders that write images, from modules of any words.
#include "sim/machine/image_writers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/machine/assembler.hpp"

namespace rayreplay::test {
namespace {

constexpr std::uint32_t kImageWrite = 99;  // OpImageWrite

trace::Shader shader_of(std::vector<std::uint32_t> words) {
  trace::Shader shader;
  shader.spirv = std::move(words);
  return shader;
}

TEST(ImageWriters, AreThoseWithAnImageWrite) {
  trace::Trace trace;
  trace.shaders.push_back(shader_of(Assembler().entry(kRayGenerationModel, 1).function(1).add().end().words()));
  // In a function that the entry point calls.
  trace.shaders.push_back(shader_of(Assembler()
                                        .entry(kRayGenerationModel, 1)
                                        .function(1)
                                        .calls(2)
                                        .end()
                                        .function(2)
                                        .op(kImageWrite, {10, 11, 12})
                                        .end()
                                        .words()));
  trace.shaders.push_back(shader_of({}));
  trace.shaders.push_back(shader_of({0x07230203, 1, 2}));
  EXPECT_THAT(machine::image_writers(trace), testing::ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(machine::image_writers(trace::Trace()), testing::IsEmpty());
}

}  // namespace
}  // namespace rayreplay::test
