// What most programs are made of: a triangle to trace rays against, and commands to do so.
#pragma once

#include <string>

#include "triangle.hpp"

namespace scenario {

/// A line of the program's answer, written at once: the program may be killed.
void print(const std::string& text);

/// A context, a triangle and a command buffer, all destroyed in order.
struct World {
  explicit World(PipelineStyle style = PipelineStyle::Modules, FeatureStyle features = FeatureStyle::Core12);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();
  /// One launch, recorded and waited for.
  void run_once();

  VkInstance instance;
  Context context;
  Triangle triangle;
  VkCommandBuffer commands;
};

}  // namespace scenario
