// Code for floats and vectors that were always the same, on the Vulkan device at hand: the rewritten shader gives the
// words of the given one, for the values that were seen and for all others, and its guards hold and fail as they
// should.
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/optimizer.hpp>

#include "Values.spv.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/instrument/instrument.hpp"
#include "capture/optimise/optimise.hpp"
#include "capture/optimise/spirv_tools.hpp"
#include "capture/spirv/guard_names.hpp"
#include "capture/spirv/module_index.hpp"

namespace rayreplay {
namespace {

using spirv::Id;
using spirv::Instruction;
using spirv::Module;
using spirv::Word;
using spv::Op;
using testing::HasSubstr;
using Words = std::vector<Word>;

constexpr std::uint32_t kThreads = 16;
constexpr VkBufferUsageFlags kStorage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
constexpr Word kSceneBinding = 1, kSettingsBinding = 2;

/// The buffers' words, as fixtures/values.rgen declares them.
struct Data {
  std::array<Word, 12> scene{};
  std::array<Word, 4> settings{};
};

Word bits(float of) {
  return std::bit_cast<Word>(of);
}

Data usual() {
  constexpr Word kMinusEight = 0xFFFFFFF8;
  return {{bits(9.5F), bits(.5F), bits(4), bits(1), kMinusEight, 21, 5, 3, bits(.75F), bits(0), bits(6), 2},
          {bits(4.5F), 0, 0, 0}};
}

Module parsed(const Words& words) {
  std::string reason;
  auto module = spirv::parse(words, reason);
  EXPECT_TRUE(module) << reason;
  return module ? *module : Module();
}

/// As glslang made it, or with values instead of local variables.
Words given(bool optimised) {
  const Words words(std::begin(kValues), std::end(kValues));
  if (!optimised) {
    return words;
  }
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.RegisterPass(spvtools::CreateInlineExhaustivePass())
      .RegisterPass(spvtools::CreateLocalAccessChainConvertPass())
      .RegisterPass(spvtools::CreateLocalSingleStoreElimPass())
      .RegisterPass(spvtools::CreateLocalMultiStoreElimPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass(false));
  Words out;
  EXPECT_TRUE(optimizer.Run(words.data(), words.size(), &out));
  return out;
}

/// As a profile would say it: every block ran in every thread, and each load of the buffers gave what they hold.
optimise::Optimised rewritten(const Words& words, const Data& seen) {
  const Module module = parsed(words);
  const spirv::ModuleIndex index(module);
  std::map<Id, Word> bindings;
  for (const Instruction& i : module.annotations) {
    if (i.is(Op::OpDecorate) && i[2] == static_cast<Word>(spv::Decoration::Binding)) {
      bindings[i[1]] = i[3];
    }
  }
  // First words of the members.
  constexpr std::array<std::size_t, 6> kMembers = {0, 4, 8, 9, 10, 11};
  std::vector<optimise::BlockExecutions> executions;
  std::vector<optimise::ConstantLoad> constants;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    std::uint32_t block = 0;
    const auto& body = module.functions[f].body;
    for (std::uint32_t at = 0; at < body.size(); ++at) {
      if (body[at].is(Op::OpLabel)) {
        executions.push_back({f, block++, kThreads});
      }
      const Instruction* chain = body[at].is(Op::OpLoad) ? index.definition(body[at][3]) : nullptr;
      if (chain == nullptr || !chain->is(Op::OpAccessChain) || !bindings.contains((*chain)[3])) {
        continue;
      }
      const Word binding = bindings.at((*chain)[3]), member = *index.constant((*chain)[4]);
      std::size_t first = binding == kSceneBinding ? kMembers.at(member) : 0;
      first += chain->size() > 5 ? *index.constant((*chain)[5]) : 0;
      const Instruction* vector = index.type(body[at].result_type(), Op::OpTypeVector);
      for (Word c = 0; c < (vector == nullptr ? 1 : (*vector)[3]); ++c) {
        const bool varies = binding == kSceneBinding && (first + c == 0 || first + c == 6);  // tint.x and grid.z
        if (!varies) {
          constants.push_back(
              {f, at, binding == kSceneBinding ? seen.scene.at(first + c) : seen.settings.at(first + c), c});
        }
      }
    }
  }
  return optimise::optimise(words, executions, {}, {{}, constants});
}

struct Guards {
  std::map<std::string, std::uint64_t> held, failed;  ///< executions by the guard's text
};

class KnownValues : public testing::TestWithParam<bool> {
 protected:
  static apps::Device& device() {
    static apps::Device device{apps::DeviceRequest{}};
    return device;
  }
  /// A module's pipeline, which runs with any data.
  class Program {
   public:
    explicit Program(const Words& words) {
      builder_.add_general_group(builder_.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, words));
      pipeline_.emplace(device(), builder_, descriptors_);
      table_.emplace(device(), *pipeline_, apps::ShaderRecord{0, {}}, std::vector<apps::ShaderRecord>{},
                     std::vector<apps::ShaderRecord>{});
    }
    Words run(const Data& data) const {
      std::memset(results_.mapped(), 0, results_.size());
      std::memcpy(scene_.mapped(), data.scene.data(), scene_.size());
      std::memcpy(settings_.mapped(), data.settings.data(), settings_.size());
      device().submit([&](VkCommandBuffer commands) {
        const VkDescriptorSet set = descriptors_.handle();
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline_->handle());
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline_->layout(), 0, 1, &set, 0,
                                nullptr);
        table_->trace(commands, kThreads, 1);
        VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                                VK_ACCESS_HOST_READ_BIT};
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                             &barrier, 0, nullptr, 0, nullptr);
      });
      Words stored(results_.size() / 4);
      std::memcpy(stored.data(), results_.mapped(), results_.size());
      return stored;
    }

   private:
    apps::Buffer results_{device(), std::size_t{kThreads} * 16, kStorage, apps::MemoryKind::Readback};
    apps::Buffer scene_{device(), sizeof(Data::scene), kStorage, apps::MemoryKind::Readback};
    apps::Buffer settings_{device(), sizeof(Data::settings), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                           apps::MemoryKind::Readback};
    apps::DescriptorSet descriptors_{
        device(), std::vector<apps::Binding>{apps::StorageBinding{&results_}, apps::StorageBinding{&scene_},
                                             apps::UniformBinding{&settings_}}};
    apps::PipelineBuilder builder_;
    std::optional<apps::RayTracingPipeline> pipeline_;
    std::optional<apps::ShaderBindingTable> table_;
  };
  static Words run(const Words& words, const Data& data) {
    return Program(words).run(data);
  }

  /// The module with counters of its blocks: executions behind each guard.
  static Guards count(const Words& words, const Data& data) {
    instrument::Options options;
    options.record = false;
    options.wide_subgroups = true;
    options.count_blocks = block_counts::CounterSet::All;
    instrument::Result result = instrument::instrument(words, options);
    EXPECT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
    const apps::Buffer counters(device(), result.counters.bytes(), kStorage, apps::MemoryKind::Readback);
    std::memset(counters.mapped(), 0, counters.size());
    result.spirv[result.counters.address_word] = static_cast<Word>(counters.address());
    result.spirv[result.counters.address_word + 1] = static_cast<Word>(counters.address() >> 32U);
    static_cast<void>(run(result.spirv, data));
    const Module module = parsed(words);
    const spirv::ModuleIndex index(module);
    Guards guards;
    for (const instrument::CountedFunction& counted : result.counters.functions) {
      std::string reason;
      const auto flow =
          spirv::control_flow(module.functions.at(counted.function), spirv::WideSelectors(module), reason);
      for (const instrument::CounterSite& site : counted.sites) {
        std::uint64_t lanes = 0;
        std::memcpy(&lanes, counters.mapped() + (counted.first + site.cell) * 8, 8);
        const std::string name = index.name(flow->blocks.at(site.place.to).label);
        if (name.starts_with(spirv::kGuardHeld)) {
          guards.held[name.substr(spirv::kGuardHeld.size())] += lanes;
        } else if (name.starts_with(spirv::kGuardFailed)) {
          guards.failed[name.substr(spirv::kGuardFailed.size())] += lanes;
        }
      }
    }
    return guards;
  }
};

TEST_P(KnownValues, GiveTheSameWordsForAllInputs) {
  const Words before = given(GetParam());
  const optimise::Optimised result = rewritten(before, usual());
  ASSERT_FALSE(result.words.empty()) << result.why;
  EXPECT_EQ(optimise::fault_of(result.words), "");
  std::string texts;
  int guards = 0;
  for (const optimise::Step& step : result.steps) {
    texts += step.kind + ": " + step.text + "\n";
    if (step.done && step.kind == "specialise") {
      ++guards;
      EXPECT_NE(step.guard_failed, 0U);
      EXPECT_GT(step.slots_saved, 0);
    }
  }
  EXPECT_EQ(guards, 5) << texts;
  for (const char* text :
       {"a branch with code for the value 0.75,", "a branch with code for the value 0,",
        "a branch with code for the value (any, 0.5, 4, any)",
        "a branch with code for the value (4294967288, 21, any, 3)", "a loop with code for the value 4.5,"}) {
    EXPECT_THAT(texts, HasSubstr(text));
  }
  const Data same = usual();
  EXPECT_EQ(run(before, same), run(result.words, same));
  const Guards held = count(result.words, same);
  EXPECT_EQ(held.held.size(), 5U);
  for (const auto& [text, lanes] : held.held) {
    EXPECT_EQ(lanes, kThreads) << text;
    EXPECT_EQ(held.failed.at(text), 0U) << text;
  }

  const Program first(before), second(result.words);
  // One word at a time: zeros of the other sign, NaN, infinity, denormalised and other numbers.
  for (std::size_t word = 0; word < same.scene.size() + same.settings.size(); ++word) {
    for (const Word other : {0x80000000U, 0U, 0x7FC00001U, 0xFFC00000U, 0x7F800000U, 1U, 3U, 0xFFFFFFF8U, bits(1.25F),
                             bits(.3F), bits(4), bits(16), bits(2.5F)}) {
      Data data = same;
      (word < data.scene.size() ? data.scene.at(word) : data.settings.at(word - data.scene.size())) = other;
      ASSERT_EQ(first.run(data), second.run(data)) << "word " << word << ": " << std::hex << other;
    }
  }
  // -0 is equal to 0, but has other bits: its guard fails, and the others hold.
  Data minus = same;
  minus.scene[9] = 0x80000000U;
  const Guards mixed = count(result.words, minus);
  std::size_t failed = 0;
  for (const auto& [text, lanes] : mixed.failed) {
    EXPECT_EQ(lanes + mixed.held.at(text), kThreads) << text;
    failed += lanes == kThreads ? 1U : 0U;
  }
  EXPECT_EQ(failed, 1U);
  EXPECT_EQ(mixed.failed.at("value 0"), kThreads);
}

/// Values that implementations may treat in different ways decide nothing; wrong ones only make guards fail.
TEST_P(KnownValues, ThatAreNaNOrDenormalisedDecideNothing) {
  const Words before = given(GetParam());
  for (const Word odd : {0x7FC00001U, 0x7F800000U, 1U, 0x80000001U}) {
    Data seen = usual();
    seen.scene[8] = seen.scene[9] = odd;
    const optimise::Optimised result = rewritten(before, seen);
    ASSERT_FALSE(result.words.empty()) << result.why;
    int guards = 0;
    for (const optimise::Step& step : result.steps) {
      guards += step.done && step.kind == "specialise" ? 1 : 0;
    }
    EXPECT_EQ(guards, 3) << std::hex << odd << ": the vectors and the loop";
    EXPECT_EQ(run(before, usual()), run(result.words, usual()));
    EXPECT_EQ(run(before, seen), run(result.words, seen));
  }
  Data wrong = usual();
  wrong.scene = {bits(1), bits(.25F), bits(2), bits(2), 7, 7, 7, 7, bits(8), bits(1), bits(7), 9};
  wrong.settings = {bits(.5F), 0, 0, 0};
  const optimise::Optimised result = rewritten(before, wrong);
  ASSERT_FALSE(result.words.empty()) << result.why;
  EXPECT_EQ(run(before, usual()), run(result.words, usual()));
  EXPECT_EQ(run(before, wrong), run(result.words, wrong));
}

INSTANTIATE_TEST_SUITE_P(Forms, KnownValues, testing::Bool(), [](const auto& optimised) {
  return std::string(optimised.param ? "Optimised" : "AsCompiled");
});

}  // namespace
}  // namespace rayreplay
