// Whether a stream takes recorded accesses of shaders, by the key and by what the trace has.
#include "sim/engine/shader_accesses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/stream.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::test {
namespace {

using experiment::Experiment;
using experiment::Settings;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ShaderAccessesOf : public testing::Test {
 protected:
  Experiment& of(std::uint64_t accesses, std::uint64_t every, const std::vector<std::string>& assignments,
                 const trace::MissingAccesses& missing = {}) {
    auto facts = std::make_shared<experiment::InputFacts>();
    facts->name = "a.rrt";
    facts->access_every = every;
    facts->launches.push_back({{8, 8, 1}, 64, 128, false, accesses, {}, missing});
    Settings settings;
    settings.set("trace", std::string("a.rrt"), "test");
    for (const std::string& assignment : assignments) {
      settings.set_text(assignment, "test");
    }
    settings_ = experiment::complete(settings);
    experiment_ = {};
    experiment_.settings = &settings_;
    experiment_.facts = facts;
    return experiment_;
  }

 private:
  Settings settings_;
  Experiment experiment_;
};

TEST_F(ShaderAccessesOf, AllThreadsOrSome) {
  const std::string key = "stream.shader_accesses=";
  EXPECT_TRUE(takes_shader_accesses(of(10, 1, {})));
  EXPECT_TRUE(takes_shader_accesses(of(10, 1, {key + "on"})));
  EXPECT_FALSE(takes_shader_accesses(of(10, 1, {key + "off"})));
  EXPECT_FALSE(takes_shader_accesses(of(0, 1, {})));
  EXPECT_FALSE(takes_shader_accesses(of(0, 1, {key + "off"})));
  EXPECT_FALSE(takes_shader_accesses(of(10, 4, {})));
  EXPECT_TRUE(takes_shader_accesses(of(10, 4, {key + "on"})));
  const ErrorInfo info = error_of([&] { (void)takes_shader_accesses(of(0, 1, {key + "on"})); }).info();
  EXPECT_EQ(info.what, "the launch has no recorded accesses of shaders");
  EXPECT_EQ(info.found, "a.rrt");
  EXPECT_THAT(info.fix, HasSubstr("--profile memory"));
}

TEST_F(ShaderAccessesOf, LayoutOfImages) {
  const std::string key = "stream.image_layout";
  const Settings& all = *of(10, 1, {}).settings;
  EXPECT_EQ(all.text(key), "block-linear:height=32,depth=32");
  EXPECT_TRUE(stream_uses_key(all, key));
  EXPECT_FALSE(stream_uses_key(*of(10, 1, {"stream.shader_accesses=off"}).settings, key));
  EXPECT_EQ(of(10, 1, {key + "=tiled"}).settings->text(key), "tiled:tile_bytes=65536");
  EXPECT_THAT(error_of(ErrorKind::Usage, [&] { return of(10, 1, {key + "=block-liner"}).settings; }).fix,
              HasSubstr("did you mean 'block-linear'?"));
}

TEST_F(ShaderAccessesOf, NotesSayWhatIsMissing) {
  const std::string key = "stream.shader_accesses=";
  EXPECT_THAT(shader_access_notes(of(10, 1, {})), IsEmpty());
  EXPECT_THAT(shader_access_notes(of(0, 4, {})), IsEmpty());
  EXPECT_THAT(shader_access_notes(of(10, 4, {key + "off"})), IsEmpty());
  EXPECT_THAT(shader_access_notes(of(10, 4, {})), ElementsAre(HasSubstr("one thread in 4 alone")));
  EXPECT_THAT(shader_access_notes(of(10, 4, {})), ElementsAre(HasSubstr("stream.shader_accesses=on takes them")));
  EXPECT_THAT(shader_access_notes(of(10, 4, {key + "on"})), ElementsAre(HasSubstr("nothing is scaled")));
}

TEST_F(ShaderAccessesOf, LostOnesAreNotTakenUnasked) {
  const std::string key = "stream.shader_accesses=";
  const trace::MissingAccesses some{2000, 0}, words{0, 1};
  for (const auto& missing : {some, words}) {
    EXPECT_FALSE(takes_shader_accesses(of(10, 1, {}, missing)));
    EXPECT_TRUE(takes_shader_accesses(of(10, 1, {key + "on"}, missing)));
    EXPECT_FALSE(takes_shader_accesses(of(10, 1, {key + "off"}, missing)));
  }
  EXPECT_THAT(shader_access_notes(of(10, 1, {}, some)),
              ElementsAre("the capture lost 2,000 of 2,010 accesses of shaders, so all are left out; "
                          "stream.shader_accesses=on takes those that are there, a capture with a larger --memory has "
                          "all"));
  EXPECT_THAT(shader_access_notes(of(10, 1, {key + "on"}, some)),
              ElementsAre(HasSubstr("2,010 accesses of shaders: the others are taken as they are")));
  EXPECT_THAT(shader_access_notes(of(10, 1, {}, words)),
              ElementsAre(HasSubstr("the capture lost 1 word of events, which may have held")));
  EXPECT_THAT(shader_access_notes(of(10, 1, {}, {1, 2})),
              ElementsAre(HasSubstr("lost 1 of 11 accesses of shaders and 2 words of events")));
  EXPECT_THAT(shader_access_notes(of(10, 1, {key + "off"}, some)), IsEmpty());
  // Sampled, and then some of those lost.
  EXPECT_THAT(shader_access_notes(of(10, 4, {}, some)), ElementsAre(HasSubstr("one thread in 4"), HasSubstr("2,010")));
}

TEST_F(ShaderAccessesOf, NotesNameNumbersThatStay) {
  const std::string memory = "schedule.time=memory", four = "scheduler.cycles_per_instruction=4";
  EXPECT_THAT(shader_access_notes(of(10, 1, {"stream.pixel_bytes=16"})),
              ElementsAre(HasSubstr("stream.pixel_bytes = 16 is given")));
  EXPECT_THAT(shader_access_notes(of(10, 1, {"stream.pixel_bytes=0"})), IsEmpty());
  EXPECT_THAT(shader_access_notes(of(10, 1, {"stream.pixel_bytes=16", "stream.shader_accesses=off"})), IsEmpty());
  EXPECT_THAT(shader_access_notes(of(10, 1, {memory})),
              ElementsAre(HasSubstr("scheduler.cycles_per_instruction = 6 contains waits")));
  EXPECT_THAT(shader_access_notes(of(10, 1, {memory, four})), IsEmpty());
  EXPECT_THAT(shader_access_notes(of(10, 1, {memory, four, "scheduler.cost_source=captured"})),
              ElementsAre(HasSubstr("latencies from clocks")));
  EXPECT_THAT(shader_access_notes(of(10, 1, {memory, four, "shader_costs.miss=10"})), IsEmpty());
  EXPECT_THAT(shader_access_notes(of(10, 1, {memory, four, "shader_costs.miss=10:80"})),
              ElementsAre(HasSubstr("latencies of shader_costs are given")));
}

TEST_F(ShaderAccessesOf, CyclesAreThoseOfArithmeticInMemoryTime) {
  const std::string key = experiment::kCyclesPerInstruction;
  const std::string memory = "schedule.time=memory";
  const auto decided = [&](const Experiment& experiment) {
    Settings settings = *experiment.settings;
    decide_cycles(settings, experiment);
    return settings;
  };
  EXPECT_EQ(decided(of(10, 1, {memory})).real(key), 4);
  EXPECT_TRUE(experiment::are_cycles_decided(decided(of(10, 1, {memory}))));
  for (const std::vector<std::string>& usual :
       {std::vector<std::string>{}, std::vector<std::string>{memory, "stream.shader_accesses=off"}}) {
    EXPECT_EQ(decided(of(10, 1, usual)).real(key), 6);
    EXPECT_FALSE(experiment::has_cycles_to_decide(of(10, 1, usual)));
  }
  EXPECT_EQ(decided(of(0, 1, {memory})).real(key), 6);
  EXPECT_EQ(decided(of(10, 4, {memory})).real(key), 6) << "of a sample, they are left out";
  EXPECT_EQ(decided(of(10, 4, {memory, "stream.shader_accesses=on"})).real(key), 4);
  // Numbers by hand stay, also the usual one.
  for (const std::string number : {"6", "9"}) {
    const Settings given = decided(of(10, 1, {memory, key + "=" + number}));
    EXPECT_EQ(to_text(given.at(key)), number);
    EXPECT_FALSE(experiment::are_cycles_decided(given));
  }
  // A printed configuration means the same when it is read back.
  const Settings printed = decided(of(10, 1, {memory}));
  Settings again = experiment::complete(experiment::parse_experiment(to_toml(printed, false), "e.toml", ""));
  Experiment read = of(10, 1, {memory});
  read.settings = &again;
  decide_cycles(again, read);
  EXPECT_TRUE(experiment::are_cycles_decided(again));
  // The fluid model has no accesses to wait for.
  EXPECT_EQ(experiment::compare_of(printed).costs.cycles_per_instruction, 6);
  EXPECT_EQ(experiment::costs_in_memory_time(printed).cycles_per_instruction, 4);
  EXPECT_FALSE(experiment::compare_of(printed).given.contains(key));
  // Without memory time it goes back to the usual number.
  Settings other = printed;
  other.set("schedule.time", std::string("accesses"), "test");
  read.settings = &other;
  decide_cycles(other, read);
  EXPECT_EQ(other.real(key), 6);
  EXPECT_EQ(other.where(key), "");
}

}  // namespace
}  // namespace rayreplay::test
