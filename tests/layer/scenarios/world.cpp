#include "world.hpp"

#include <cstdio>

namespace scenario {

void print(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

World::World(PipelineStyle style, FeatureStyle features)
    : instance(make_instance()),
      context(instance, features),
      triangle(context, style),
      commands(context.allocate(context.pool)) {}

World::~World() {
  vkDeviceWaitIdle(context.device);
  triangle.destroy();
  context.destroy();
  vkDestroyInstance(instance, nullptr);
}

void World::run_once() {
  begin(commands);
  triangle.trace(commands, kWidth, kHeight, 0);
  end(commands);
  context.submit_and_wait(commands);
}

}  // namespace scenario
