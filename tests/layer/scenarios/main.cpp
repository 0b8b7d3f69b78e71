// Vulkan programs of the kinds that a capture meets, one for each name: prints what it computed. The tests run each
// with and without the layer and compare the print; nothing here knows of the capture.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "callables.hpp"
#include "compute.hpp"
#include "endings.hpp"
#include "triangle.hpp"
#include "unasked.hpp"

namespace scenario {
namespace {

void print(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

/// A context, a triangle and a command buffer, all destroyed in order.
struct World {
  explicit World(PipelineStyle style = PipelineStyle::Modules, FeatureStyle features = FeatureStyle::Core12)
      : instance(make_instance()),
        context(instance, features),
        triangle(context, style),
        commands(context.allocate(context.pool)) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    vkDeviceWaitIdle(context.device);
    triangle.destroy();
    context.destroy();
    vkDestroyInstance(instance, nullptr);
  }
  void run_once() {
    begin(commands);
    triangle.trace(commands, kWidth, kHeight, 0);
    end(commands);
    context.submit_and_wait(commands);
  }

  VkInstance instance;
  Context context;
  Triangle triangle;
  VkCommandBuffer commands;
};

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

/// Twelve launches of growing size in one command buffer.
void many_launches() {
  World world;
  begin(world.commands);
  for (std::uint32_t i = 1; i <= 12; ++i) {
    world.triangle.trace(world.commands, i, kHeight, 0, i);
  }
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  print(world.triangle.picture());
}

/// One recording: submitted three times, then twice in one call.
void resubmitted() {
  World world;
  begin(world.commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  for (int i = 0; i < 3; ++i) {
    world.context.submit_and_wait(world.commands);
  }
  std::array<VkSubmitInfo, 2> infos{};
  for (auto& info : infos) {
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &world.commands;
  }
  check(vkQueueSubmit(world.context.queue, infos.size(), infos.data(), VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  print(world.triangle.picture());
}

/// One recording, twice in one batch.
void twice_in_a_batch() {
  World world;
  begin(world.commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  const std::array<VkCommandBuffer, 2> both = {world.commands, world.commands};
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = both.size();
  info.pCommandBuffers = both.data();
  check(vkQueueSubmit(world.context.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  print(world.triangle.picture());
}

VkSemaphore make_timeline(const World& world) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo semaphore_info{};
  semaphore_info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  semaphore_info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  check(vkCreateSemaphore(world.context.device, &semaphore_info, nullptr, &semaphore), "vkCreateSemaphore");
  return semaphore;
}

/// Submits the world's commands (or none), which wait for a value of the semaphore.
void submit_behind(const World& world, VkSemaphore semaphore, std::uint64_t value, bool with_commands = true) {
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.waitSemaphoreValueCount = 1;
  timeline.pWaitSemaphoreValues = &value;
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timeline;
  info.waitSemaphoreCount = 1;
  info.pWaitSemaphores = &semaphore;
  info.pWaitDstStageMask = &stage;
  info.commandBufferCount = with_commands ? 1 : 0;
  info.pCommandBuffers = &world.commands;
  check(vkQueueSubmit(world.context.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

void signal(const World& world, VkSemaphore semaphore, std::uint64_t value) {
  VkSemaphoreSignalInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
  info.semaphore = semaphore;
  info.value = value;
  check(vkSignalSemaphore(world.context.device, &info), "vkSignalSemaphore");
}

/// One recording, submitted twice before the device may begin with either.
void twice_pending() {
  World world;
  const VkSemaphore semaphore = make_timeline(world);
  begin(world.commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  for (int turn = 0; turn < 2; ++turn) {
    submit_behind(world, semaphore, 1);
  }
  signal(world, semaphore, 1);
  check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  vkDestroySemaphore(world.context.device, semaphore, nullptr);
  print(world.triangle.picture());
}

void submit2() {
  World world;
  begin(world.commands);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  VkCommandBufferSubmitInfo commands{};
  commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  commands.commandBuffer = world.commands;
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &commands;
  const auto submit =
      reinterpret_cast<PFN_vkQueueSubmit2KHR>(vkGetDeviceProcAddr(world.context.device, "vkQueueSubmit2"));
  VkFenceCreateInfo fence_info{};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence = VK_NULL_HANDLE;
  check(vkCreateFence(world.context.device, &fence_info, nullptr, &fence), "vkCreateFence");
  check(submit(world.context.queue, 1, &info, fence), "vkQueueSubmit2");
  check(submit(world.context.queue, 0, nullptr, VK_NULL_HANDLE), "vkQueueSubmit2 of nothing");
  check(vkWaitForFences(world.context.device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  vkDestroyFence(world.context.device, fence, nullptr);
  print(world.triangle.picture());
}

void secondary() {
  World world;
  auto* first = world.context.allocate(world.context.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  auto* second = world.context.allocate(world.context.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  begin_secondary(first);
  world.triangle.trace(first, kWidth, kHeight, 0);
  end(first);
  begin_secondary(second);
  world.triangle.trace(second, 4, 4, kThreads, 3);
  end(second);
  begin(world.commands);
  const std::array<VkCommandBuffer, 2> both = {first, second};
  vkCmdExecuteCommands(world.commands, both.size(), both.data());
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  print(world.triangle.picture());
}

/// Four threads record and submit on one queue.
void threads() {
  World world;
  std::mutex queue;
  std::vector<std::thread> workers;
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      auto* pool = world.context.make_pool();
      for (std::uint32_t i = 0; i < 5; ++i) {
        auto* commands = world.context.allocate(pool);
        begin(commands);
        world.triangle.trace(commands, kWidth, kHeight, (worker * 5 + i) * kThreads);
        end(commands);
        VkSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &commands;
        VkFenceCreateInfo fence_info{};
        fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        VkFence fence = VK_NULL_HANDLE;
        check(vkCreateFence(world.context.device, &fence_info, nullptr, &fence), "vkCreateFence");
        {
          const std::scoped_lock lock(queue);
          check(vkQueueSubmit(world.context.queue, 1, &info, fence), "vkQueueSubmit");
        }
        check(vkWaitForFences(world.context.device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
        vkDestroyFence(world.context.device, fence, nullptr);
        vkFreeCommandBuffers(world.context.device, pool, 1, &commands);
      }
      vkDestroyCommandPool(world.context.device, pool, nullptr);
    });
  }
  for (auto& worker : workers) {
    worker.join();
  }
  print(world.triangle.picture());
}

/// Two devices of one instance, each used by a thread.
void devices() {
  auto* instance = make_instance();
  std::array<std::string, 2> pictures;
  std::vector<std::thread> workers;
  for (auto& picture : pictures) {
    workers.emplace_back([&picture, instance] {
      Context context(instance);
      Triangle triangle(context);
      auto* commands = context.allocate(context.pool);
      begin(commands);
      triangle.trace(commands, kWidth, kHeight, 0);
      end(commands);
      context.submit_and_wait(commands);
      picture = triangle.picture();
      triangle.destroy();
      context.destroy();
    });
  }
  for (auto& worker : workers) {
    worker.join();
  }
  vkDestroyInstance(instance, nullptr);
  print(pictures[0]);
  print(pictures[1]);
}

/// Six submissions of two launches each.
void frames() {
  World world;
  for (std::uint32_t frame = 0; frame < 6; ++frame) {
    begin(world.commands);
    world.triangle.trace(world.commands, kWidth, kHeight, frame * kThreads, 1);
    world.triangle.trace(world.commands, kWidth, kHeight, frame * kThreads, 2);
    end(world.commands);
    world.context.submit_and_wait(world.commands);
  }
  print(world.triangle.picture());
}

/// A launch that waits for a semaphore which the host signals after the submission.
void wait_before_signal() {
  World world;
  const VkSemaphore semaphore = make_timeline(world);
  for (std::uint64_t turn = 1; turn <= 3; ++turn) {
    begin(world.commands);
    world.triangle.trace(world.commands, kWidth, kHeight, 0);
    end(world.commands);
    submit_behind(world, semaphore, turn);
    signal(world, semaphore, turn);
    check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  }
  vkDestroySemaphore(world.context.device, semaphore, nullptr);
  print(world.triangle.picture());
}

/// Work that was submitted before the first launch holds the queue, until the host lets it go after the launch.
void queue_held() {
  World world;
  const VkSemaphore semaphore = make_timeline(world);
  submit_behind(world, semaphore, 1, false);
  begin(world.commands);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &world.commands;
  check(vkQueueSubmit(world.context.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  signal(world, semaphore, 1);
  check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  vkDestroySemaphore(world.context.device, semaphore, nullptr);
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

void table_of_device() {
  World world;
  begin(world.commands);
  world.triangle.trace_with_table_of_device(world.commands);
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  print(world.triangle.picture());
}

/// Eighty command buffers, each for one submission, all recorded before the first of them is submitted.
void recorded_ahead() {
  World world;
  std::vector<VkCommandBuffer> all;
  for (std::uint32_t i = 0; i < 80; ++i) {
    auto* commands = all.emplace_back(world.context.allocate(world.context.pool));
    begin(commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    world.triangle.trace(commands, kWidth, kHeight, 0, i);
    end(commands);
  }
  for (auto* commands : all) {
    world.context.submit_and_wait(commands);
  }
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
