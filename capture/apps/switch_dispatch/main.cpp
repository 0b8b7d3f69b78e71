// switch_dispatch: a virtual machine in one switch, as a Vulkan ray-tracing application. It knows nothing of
// rayreplay's capture.
//
// The switch has 71 cases. The program that it runs has 128 steps in 4 KiB of uniform memory, and uses one instruction,
// or with --mixed all of them in turn. One box, behind the rays, makes the acceleration structure.
#include <array>
#include <cstdint>
#include <vector>

#include "BackgroundMiss.spv.hpp"
#include "SwitchDispatch.spv.hpp"
#include "capture/apps/framework/acceleration.hpp"
#include "capture/apps/framework/frames.hpp"
#include "capture/apps/framework/options.hpp"
#include "capture/apps/framework/picture.hpp"
#include "capture/apps/framework/shared_resources.hpp"
#include "capture/reference/scene.hpp"

namespace rayreplay::apps {
namespace {

constexpr std::uint32_t kSteps = 128, kInstructions = 71;

/// As in ray_generation.rgen.
struct Step {
  std::array<std::uint32_t, 4> code{};
  std::array<float, 4> operand{};
};
static_assert(kSteps * sizeof(Step) == 4096);

struct SwitchOptions {
  std::uint32_t instruction = 35;
  bool mixed = false;
};

std::vector<Step> make_program(const SwitchOptions& options) {
  std::vector<Step> program(kSteps);
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    program[i].code[0] = options.mixed ? i % kInstructions : options.instruction;
    const float x = 0.25F + static_cast<float>(i % 7) * 0.0625F;
    program[i].operand = {x, 0.5F * x, 1 - x, 0.75F};
  }
  return program;
}

/// A box far behind every ray.
class Box {
 public:
  explicit Box(const Device& device)
      : boxes_(upload(device, std::vector<VkAabbPositionsKHR>{{0, 0, -20, 1, 1, -10}}, kBuildInputUsage)),
        levels_(device, {{{box_geometry(boxes_.address(), true)}, {{1, 0, 0, 0}}}}, false) {}

  [[nodiscard]] std::vector<VkAccelerationStructureInstanceKHR> instances() const {
    VkAccelerationStructureInstanceKHR instance{};
    instance.transform = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    instance.mask = 0xFF;
    instance.accelerationStructureReference = levels_.address(0);
    return {instance};
  }

 private:
  Buffer boxes_;
  BottomLevels levels_;
};

void render(Options& options, const SwitchOptions& own) {
  const Device device({options.device, false, false});
  require_within(options, device.limits(), 1);
  const Box box(device);
  const TopLevel top(device, box.instances(), false);

  Params params = make_params(reference::Camera(), reference::Sky(), options);
  params.t_max = 1;
  params.ray_flags = kRayFlagOpaque;
  const SharedResources shared(device, options, params, {});
  const Buffer program = upload(device, make_program(own), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
  std::vector<Binding> bindings = shared.bindings(top.handle());
  bindings.emplace_back(UniformBinding{&program});
  const DescriptorSet descriptors(device, bindings);

  PipelineBuilder builder;
  builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, kSwitchDispatch));
  builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_MISS_BIT_KHR, kBackgroundMiss));
  const RayTracingPipeline pipeline(device, builder, descriptors);
  const ShaderBindingTable table(device, pipeline, {0, {}}, {{1, {}}}, {});

  print_times(render_frames(device, options, {&pipeline, &descriptors, &table, {}}));
  if (!options.image.empty()) {
    write_picture(options.image, options.width, options.height, shared.picture().download());
  }
}

}  // namespace
}  // namespace rayreplay::apps

int main(int argc, char** argv) {
  rayreplay::apps::SwitchOptions own;
  return rayreplay::apps::run_program(
      argc, argv,
      {"switch_dispatch", "Runs a virtual machine of 71 instructions in a ray-generation shader, without a window.",
       [&](CLI::App& app) {
         app.add_option("--instruction", own.instruction, "The one instruction that the program uses")
             ->check(CLI::Range(0U, 70U))
             ->type_name("N")
             ->capture_default_str()
             ->group("Picture");
         app.add_flag("--mixed", own.mixed, "The program uses all instructions in turn")->group("Picture");
       },
       [&](rayreplay::apps::Options& options) { rayreplay::apps::render(options, own); }});
}
