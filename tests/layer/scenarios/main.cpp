// Vulkan programs of the kinds that a capture meets, one for each name: prints what it computed. The tests run each
// with and without the layer and compare the print; nothing here knows of the capture.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "callables.hpp"
#include "compute.hpp"
#include "endings.hpp"
#include "images.hpp"
#include "submissions.hpp"
#include "triangle.hpp"
#include "unasked.hpp"
#include "world.hpp"

namespace scenario {
namespace {

void one_launch(PipelineStyle style, FeatureStyle features = FeatureStyle::Core12) {
  World world(style, features);
  world.run_once();
  print(world.triangle.picture());
}

/// Prints the driver's stack sizes, too, which are those of instrumented shaders where the layer made them.
void stack_sizes(PipelineStyle style) {
  World world(style);
  print(world.triangle.stack_sizes());
  world.run_once();
  print(world.triangle.picture());
}

void indirect(bool with_tables) {
  World world(PipelineStyle::Modules, with_tables ? FeatureStyle::Indirect2 : FeatureStyle::Core12);
  begin(world.commands);
  world.triangle.trace_indirect(world.commands, kWidth, kHeight, with_tables);
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  print(world.triangle.picture());
}

/// A buffer for tables that no launch uses goes between recording and submission.
void unrelated_table() {
  World world(PipelineStyle::Modules, FeatureStyle::Indirect2);
  Buffer other = world.context.make_buffer(
      65536, VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
  begin(world.commands);
  world.triangle.trace_indirect(world.commands, kWidth, kHeight, true);
  end(world.commands);
  world.context.free(other);
  world.context.submit_and_wait(world.commands);
  print(world.triangle.picture());
}

/// Pipelines come and go; the last one is used.
void churn() {
  World world;
  for (int i = 0; i < 300; ++i) {
    vkDestroyPipeline(world.context.device, world.triangle.make_pipeline(PipelineStyle::Modules), nullptr);
  }
  world.run_once();
  print(world.triangle.picture());
}

/// What is allowed but odd, and what is wrong but must not be made worse.
void odd_calls() {
  World world;
  auto* device = world.context.device;
  vkDestroyPipeline(device, VK_NULL_HANDLE, nullptr);
  vkDestroyShaderModule(device, VK_NULL_HANDLE, nullptr);
  vkDestroyCommandPool(device, VK_NULL_HANDLE, nullptr);
  vkDestroyBuffer(device, VK_NULL_HANDLE, nullptr);
  VkCommandBuffer none = VK_NULL_HANDLE;
  vkFreeCommandBuffers(device, world.context.pool, 1, &none);
  check(vkQueueSubmit(world.context.queue, 0, nullptr, VK_NULL_HANDLE), "vkQueueSubmit of nothing");
  VkSubmitInfo empty{};
  empty.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  check(vkQueueSubmit(world.context.queue, 1, &empty, VK_NULL_HANDLE), "vkQueueSubmit of an empty batch");
  // A module of words that are no SPIR-V, created and never used.
  const std::uint32_t words[8] = {0x07230203, 0x00010500, 0, 9, 0, 0xFFFFFFFF, 0x00000000, 0x0001FFFF};
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = sizeof words;
  info.pCode = words;
  VkShaderModule module = VK_NULL_HANDLE;
  if (vkCreateShaderModule(device, &info, nullptr, &module) == VK_SUCCESS) {
    vkDestroyShaderModule(device, module, nullptr);
  }
  begin(world.commands);
  world.triangle.trace(world.commands, 0, kHeight, 0);
  world.triangle.trace(world.commands, 1, 1, 0);
  end(world.commands);
  check(vkResetCommandBuffer(world.commands, 0), "vkResetCommandBuffer");
  begin(world.commands);
  world.triangle.trace(world.commands, 0, 0, 0);
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  check(vkResetCommandPool(device, world.context.pool, 0), "vkResetCommandPool");
  world.run_once();
  print(world.triangle.picture());
  print(vkGetDeviceProcAddr(device, "vkCmdDrawMeshTasksEXT") == nullptr ? "absent" : "present");
  print(vkGetDeviceProcAddr(device, "vkNoSuchFunction") == nullptr ? "absent" : "present");
}

/// Instances one after the other: the layer is unloaded and loaded again.
void again() {
  one_launch(PipelineStyle::Modules);
  one_launch(PipelineStyle::Modules);
}

void forked() {
  World world;
  world.run_once();
  std::fflush(stdout);
  const auto child = fork();
  if (child == 0) {
    one_launch(PipelineStyle::Modules);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  world.run_once();
  print(world.triangle.picture() + " child " + std::to_string(status));
}

/// Ends with everything alive.
void left_alive(bool at_once) {
  auto* world = new World;
  world->run_once();
  print(world->triangle.picture());
  if (at_once) {
    _exit(0);
  }
  std::exit(0);
}

/// A launch without rays while there are two top levels, so that which one is meant cannot be told; then one with.
void launch_without_rays() {
  World world;
  Triangle other(world.context, PipelineStyle::WithoutRays);
  begin(world.commands);
  other.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  world.run_once();
  other.destroy();
  print(world.triangle.picture());
}

void inactive_instance() {
  auto* instance = make_instance();
  Context context(instance);
  Triangle triangle(context, PipelineStyle::Modules, true);
  auto* commands = context.allocate(context.pool);
  begin(commands);
  triangle.trace(commands, kWidth, kHeight, 0);
  end(commands);
  context.submit_and_wait(commands);
  print(triangle.picture());
  triangle.destroy();
  context.destroy();
  vkDestroyInstance(instance, nullptr);
}

/// Fails before or behind its only launch: by a signal, or with exit code 7.
void failing(bool launch, bool crash) {
  World world;
  if (launch) {
    world.run_once();
  }
  print(world.triangle.picture());
  if (crash) {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  std::exit(7);
}

/// Launches for ever, for a test that kills it.
void endless() {
  World world;
  for (;;) {
    world.run_once();
    print("launched");
  }
}

/// Compute work before and between launches, bound once.
void compute_between() {
  World world;
  {
    Compute compute(world.context);
    begin(world.commands);
    compute.bind(world.commands);
    compute.step(world.commands, 3);
    for (std::uint32_t i = 1; i <= 3; ++i) {
      world.triangle.trace(world.commands, kWidth, kHeight, 0, i);
      compute.step(world.commands, 3);
    }
    end(world.commands);
    world.context.submit_and_wait(world.commands);
    print(world.triangle.picture() + " " + std::to_string(compute.value()));
  }
}

/// Two launches with images bound, which change places in between.
void launches_with_images() {
  World world;
  {
    Images images(world.context);
    for (const bool turned : {false, true}) {
      images.write(turned);
      begin(world.commands);
      images.bind(world.commands);
      world.triangle.trace(world.commands, kWidth, kHeight, 0);
      end(world.commands);
      world.context.submit_and_wait(world.commands);
    }
  }
  print(world.triangle.picture());
}

/// One launch whose shader loads, stores and samples images.
void accesses_to_images() {
  auto* instance = make_instance();
  Context context(instance);
  {
    Images images(context);
    Triangle triangle(context, PipelineStyle::Images, false, images.layout());
    auto* commands = context.allocate(context.pool);
    images.write(false);
    begin(commands);
    images.fill(commands);
    images.bind(commands);
    triangle.trace(commands, kWidth, kHeight, 0);
    end(commands);
    context.submit_and_wait(commands);
    print(triangle.picture());
    triangle.destroy();
  }
  context.destroy();
  vkDestroyInstance(instance, nullptr);
}

void table_of_device() {
  World world;
  begin(world.commands);
  world.triangle.trace_with_table_of_device(world.commands);
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  print(world.triangle.picture());
}

/// `count`: shaders.
void callables(std::uint32_t count) {
  auto* instance = make_instance();
  {
    Context context(instance);
    print(call_shaders(context, count));
    context.destroy();
  }
  vkDestroyInstance(instance, nullptr);
}

int run(const std::string& name, const char* number) {
  const std::map<std::string, std::function<void()>> scenarios = {
      {"modules", [] { one_launch(PipelineStyle::Modules); }},
      {"marked", [] { one_launch(PipelineStyle::Marked); }},
      {"inline", [] { one_launch(PipelineStyle::Inline); }},
      {"library", [] { one_launch(PipelineStyle::Library); }},
      {"gone", [] { one_launch(PipelineStyle::Gone); }},
      {"deferred", [] { one_launch(PipelineStyle::Deferred); }},
      {"dynamic-stack", [] { one_launch(PipelineStyle::DynamicStack); }},
      {"stack-sizes", [] { stack_sizes(PipelineStyle::Modules); }},
      {"stack-sizes-library", [] { stack_sizes(PipelineStyle::Library); }},
      {"individual-features", [] { one_launch(PipelineStyle::Modules, FeatureStyle::Individual); }},
      {"plain-features", [] { one_launch(PipelineStyle::Modules, FeatureStyle::PlainFeatures); }},
      {"indirect", [] { indirect(false); }},
      {"indirect2", [] { indirect(true); }},
      {"unrelated-table", unrelated_table},
      {"many-launches", many_launches},
      {"resubmitted", resubmitted},
      {"twice-in-a-batch", twice_in_a_batch},
      {"twice-pending", twice_pending},
      {"submit2", submit2},
      {"secondary", secondary},
      {"threads", threads},
      {"devices", devices},
      {"frames", frames},
      {"wait-before-signal", wait_before_signal},
      {"queue-held", queue_held},
      {"compute-between", compute_between},
      {"images", launches_with_images},
      {"image-accesses", accesses_to_images},
      {"table-of-device", table_of_device},
      {"recorded-ahead", recorded_ahead},
      {"churn", churn},
      {"odd-calls", odd_calls},
      {"again", again},
      {"forked", forked},
      {"left-alive", [] { left_alive(false); }},
      {"left-at-once", [] { left_alive(true); }},
      {"unasked", [] { unasked(true); }},
      {"unasked-without-tracing", [] { unasked(false); }},
      {"without-standard-descriptors", without_standard_descriptors},
      {"endless", endless},
      {"callables", [number] { callables(number != nullptr ? static_cast<std::uint32_t>(std::atoi(number)) : 64); }},
      {"no-device", no_device},
      {"plain-device", plain_device},
      {"ray-queries", [] { ray_queries(false); }},
      {"ray-queries-beside", [] { ray_queries(true); }},
      {"without-rays", launch_without_rays},
      {"inactive-instance", inactive_instance},
      {"crash-before", [] { failing(false, true); }},
      {"crash-behind", [] { failing(true, true); }},
      {"exit-before", [] { failing(false, false); }},
      {"exit-behind", [] { failing(true, false); }},
  };
  const auto found = scenarios.find(name);
  if (found == scenarios.end()) {
    std::fprintf(stderr, "no scenario %s\n", name.c_str());
    return 2;
  }
  found->second();
  return 0;
}

}  // namespace
}  // namespace scenario

int main(int argc, char** argv) {
  return scenario::run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : nullptr);
}
