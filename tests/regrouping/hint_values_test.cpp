// Hints of whole launches: formulas against a slow twin, captured hints, files, and every refusal.
#include <gtest/gtest.h>

#include <oneapi/tbb/global_control.h>
#include <bit>
#include <cmath>
#include <fstream>
#include <set>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/hints/formula_hints.hpp"
#include "scheduler-models/regrouping/hints/tree.hpp"
#include "tests/regrouping/random_formula.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::scheduler {
namespace {

using test::error_of;

using formula::Field;

/// One pending call, found the long way.
struct Pending {
  std::uint64_t thread, event, ray;
};

std::vector<std::optional<Pending>> pending_by_segment(const trace::Launch& launch, const Segments& segments) {
  std::vector<std::optional<Pending>> result(segments.size());
  for (std::uint64_t thread = 0; thread < launch.data.threads(); ++thread) {
    for (std::uint32_t s = segments.first[thread]; s < segments.first[thread + 1]; ++s) {
      const std::uint64_t row = segments.event_offset[s];
      const trace::EventKind kind = launch.data.events.kind[row];
      if (kind != trace::EventKind::ClosestHit && kind != trace::EventKind::Miss) {
        continue;
      }
      std::uint64_t begun = 0;
      for (std::uint64_t e = launch.data.event_offset[thread]; e <= row; ++e) {
        begun += trace::begins_ray(launch.data.events.kind[e]) ? 1U : 0U;
      }
      const auto& named = launch.data.events.ray;
      result[s] = {thread, row, launch.data.ray_offset[thread] + (named.empty() ? begun - 1 : named[row])};
    }
  }
  return result;
}

class SlowFields {
 public:
  SlowFields(const trace::Trace& trace, const trace::Launch& launch, const Segments& segments)
      : trace_(trace), launch_(launch), pending_(pending_by_segment(launch, segments)) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> met;
    for (const auto& p : pending_) {
      if (p && is_hit(*p)) {
        met.emplace(launch.data.events.instance[p->event], launch.data.events.primitive[p->event]);
      }
    }
    objects_.assign(met.begin(), met.end());
  }

  [[nodiscard]] const std::vector<std::optional<Pending>>& pending() const {
    return pending_;
  }

  [[nodiscard]] double operator()(const Pending& p, Field field) const {
    const auto& e = launch_.data.events;
    const auto& r = launch_.data.rays;
    const bool hit = is_hit(p);
    const auto real = [](float value) { return static_cast<double>(value); };
    const double t = hit ? real(e.t[p.event]) : 0.0;
    const auto point = [&](const auto& origin, const auto& direction) {
      return hit ? real(origin[p.ray]) + t * real(direction[p.ray]) : 0.0;
    };
    const std::uint32_t geometry = e.geometry.empty() ? 0U : e.geometry[p.event];
    switch (field) {
      case Field::Instance:
        return hit ? e.instance[p.event] : 0.0;
      case Field::Primitive:
        return hit ? e.primitive[p.event] : 0.0;
      case Field::Geometry:
        return hit ? geometry : 0.0;
      case Field::Object: {
        const std::pair key{e.instance[p.event], e.primitive[p.event]};
        return hit ? static_cast<double>(std::find(objects_.begin(), objects_.end(), key) - objects_.begin()) : 0.0;
      }
      case Field::Material:
        return hit ? instance(p).hit_group_offset + geometry * r.sbt_stride[p.ray] + r.sbt_offset[p.ray] : 0.0;
      case Field::CustomIndex:
        return hit ? instance(p).custom_index : 0.0;
      case Field::HitKind:
        return e.hit_kind[p.event];
      case Field::FrontFace:
        return e.hit_kind[p.event] == 254 ? 1 : 0;
      case Field::Distance:
        return t;
      case Field::Shader:
        return e.shader[p.event];
      case Field::Miss:
        return hit ? 0 : 1;
      case Field::X:
        return static_cast<double>(p.thread % launch_.size.width);
      case Field::Y:
        return static_cast<double>(p.thread / launch_.size.width % launch_.size.height);
      case Field::Z:
        return static_cast<double>(p.thread / (std::uint64_t{launch_.size.width} * launch_.size.height));
      case Field::Bounce:
        return static_cast<double>(p.ray - launch_.data.ray_offset[p.thread]);
      case Field::Site:
        return r.site[p.ray];
      case Field::Flags:
        return r.flags[p.ray];
      case Field::OriginX:
        return real(r.origin_x[p.ray]);
      case Field::OriginY:
        return real(r.origin_y[p.ray]);
      case Field::OriginZ:
        return real(r.origin_z[p.ray]);
      case Field::DirectionX:
        return real(r.direction_x[p.ray]);
      case Field::DirectionY:
        return real(r.direction_y[p.ray]);
      case Field::DirectionZ:
        return real(r.direction_z[p.ray]);
      case Field::PointX:
        return point(r.origin_x, r.direction_x);
      case Field::PointY:
        return point(r.origin_y, r.direction_y);
      case Field::PointZ:
        return point(r.origin_z, r.direction_z);
      case Field::TMin:
        return real(r.t_min[p.ray]);
      case Field::TMax:
        return real(r.t_max[p.ray]);
      case Field::CapturedHint:
        return static_cast<double>(std::uint64_t{r.hint[p.ray]} & ((std::uint64_t{1} << r.hint_bits[p.ray]) - 1));
    }
    return 0;
  }

 private:
  [[nodiscard]] bool is_hit(const Pending& p) const {
    return launch_.data.events.kind[p.event] == trace::EventKind::ClosestHit;
  }
  [[nodiscard]] const trace::Instance& instance(const Pending& p) const {
    const auto& tlases = trace_.scene.tlases;
    const std::uint32_t first = tlases.empty() ? 0 : tlases[launch_.tlas].first_instance;
    return trace_.scene.instances[first + launch_.data.events.instance[p.event]];
  }

  const trace::Trace& trace_;
  const trace::Launch& launch_;
  std::vector<std::optional<Pending>> pending_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> objects_;
};

Cut pending_cut() {
  Cut cut;
  cut.at = CutAt::PendingCall;
  return cut;
}

/// Everything is there, the top-level structure too.
trace::Trace complete_trace(std::uint64_t seed, bool named_rays) {
  for (;; seed += 1000) {
    trace::Trace trace = test::random_trace(
        {.seed = seed, .size = {19, 7, 2}, .rays_per_thread = 5, .geometry = true, .ray = named_rays, .capture = true});
    if (trace.launches[0].tlas != trace::kNone) {
      return trace;
    }
  }
}

TEST(HintFields, AreThoseOfTheTrace) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const trace::Trace trace = complete_trace(seed, seed % 2 == 0);
    const trace::Launch& launch = trace.launches[0];
    const Segments segments = cut_paths(launch, pending_cut());
    const SlowFields slow(trace, launch, segments);
    const formula::FieldReader fields(trace, launch, segments, formula::FieldSet().set());
    formula::for_each_pending(launch, segments, 0, launch.data.threads(), [&](const formula::PendingCall& call) {
      const auto& expected = slow.pending()[call.segment];
      ASSERT_TRUE(expected.has_value());
      ASSERT_EQ(call.thread, expected->thread);
      ASSERT_EQ(call.event, expected->event);
      ASSERT_EQ(call.ray, expected->ray);
      for (std::size_t f = 0; f < formula::kFieldCount; ++f) {
        double value = 0;
        fields.read(static_cast<Field>(f), {&call, 1}, &value);
        const double wanted = slow(*expected, static_cast<Field>(f));
        ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(wanted))
            << formula::kFields[f].name;
      }
    });
  }
}

TEST(HintFormulas, CompiledIsWhatTheTreeGives) {
  test::Random random(5);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const trace::Trace trace = complete_trace(seed, seed % 2 == 0);
    const trace::Launch& launch = trace.launches[0];
    const Segments segments = cut_paths(launch, pending_cut());
    const SlowFields slow(trace, launch, segments);
    const formula::FieldReader fields(trace, launch, segments, formula::FieldSet().set());
    std::vector<formula::PendingCall> calls;
    formula::for_each_pending(launch, segments, 0, launch.data.threads(),
                              [&](const formula::PendingCall& call) { calls.push_back(call); });
    calls.resize(std::min<std::size_t>(calls.size(), formula::kBatch));
    for (int round = 0; round < 400; ++round) {
      const std::string text = test::random_formula(random, 1 + random.below(5));
      const formula::Expression expression = formula::parse_expression(text, "test");
      const formula::Program program(expression);
      formula::Program::Bench bench(program);
      const auto values = program.run(fields, calls, bench);
      for (std::size_t i = 0; i < calls.size(); i += 7) {
        const Pending& pending = *slow.pending()[calls[i].segment];
        const double expected =
            formula::evaluate_tree(expression, [&](Field field) { return slow(pending, field); }).value;
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(values[i])) << text;
        } else {
          ASSERT_EQ(values[i], expected) << text;
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 10000U);
}

TEST(HintFormulas, GiveEverySegmentItsValueWhateverTheWorkers) {
  const trace::Trace trace = complete_trace(3, false);
  const trace::Launch& launch = trace.launches[0];
  const Segments segments = cut_paths(launch, pending_cut());
  const SlowFields slow(trace, launch, segments);
  const auto [name, source] = parse_hint("mix:9=(object % 64 << 3) | min(bounce, 7)");
  const HintSources sources = {{name, source}};
  for (const std::size_t workers : {1U, 2U, 5U}) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers);
    const Hints hints = make_hints(trace, launch, segments, "mix", sources);
    ASSERT_EQ(hints.bits, 9U);
    ASSERT_EQ(hints.value.size(), segments.size());
    for (std::size_t s = 0; s < segments.size(); ++s) {
      std::uint32_t expected = 0;
      if (slow.pending()[s]) {
        const auto object = static_cast<std::uint32_t>(slow(*slow.pending()[s], Field::Object));
        const auto bounce = static_cast<std::uint32_t>(slow(*slow.pending()[s], Field::Bounce));
        expected = (object % 64) << 3U | std::min(bounce, 7U);
      }
      ASSERT_EQ(hints.value[s], expected);
    }
  }
}

TEST(CapturedHints, KeepTheirMostSignificantBits) {
  trace::Trace trace;
  test::LaunchBuilder builder({4, 1, 1});
  for (int i = 0; i < 4; ++i) {
    builder.thread().begin(0).closest_hit(1);
  }
  trace.launches.push_back(builder.build());
  trace::Rays& rays = trace.launches[0].data.rays;
  rays.hint = {0b1011, 0b1111'0110, 0xFFFF'FFFF, 5};
  rays.hint_bits = {4, 4, 0, 2};  // the low bits count: 1011, 0110, none, 01
  const trace::Launch& launch = trace.launches[0];
  const Segments segments = cut_paths(launch, pending_cut());
  const auto of = [&](std::string_view name, const HintSources& sources) {
    const Hints hints = make_hints(trace, launch, segments, name, sources);
    std::vector<std::uint32_t> values = {hints.bits};
    for (std::uint32_t thread = 0; thread < 4; ++thread) {
      values.push_back(hints.value[segments.first[thread] + 1]);
      EXPECT_EQ(hints.value[segments.first[thread]], 0U);
    }
    return values;
  };
  using Values = std::vector<std::uint32_t>;
  EXPECT_EQ(of("captured", {}), (Values{4, 0b1011, 0b0110, 0, 0b0100}));
  EXPECT_EQ(of("auto", {}), (Values{4, 0b1011, 0b0110, 0, 0b0100}));
  const HintSources narrow = {{"two", {HintOrigin::Captured, 2}}, {"six", {HintOrigin::Captured, 6}}};
  EXPECT_EQ(of("two", narrow), (Values{2, 0b10, 0b01, 0, 0b01}));
  EXPECT_EQ(of("six", narrow), (Values{6, 0b101100, 0b011000, 0, 0b010000}));
}

TEST(CapturedHints, OfARealCaptureAreThere) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend-ser.rrt");
  const trace::Launch& launch = trace.launches.at(0);
  const Segments segments = cut_paths(launch, pending_cut());
  const Hints captured = make_hints(trace, launch, segments, "captured", {});
  ASSERT_GT(captured.bits, 0U);
  const auto [name, source] = parse_hint("same:" + std::to_string(captured.bits) + "=hint");
  const Hints formula = make_hints(trace, launch, segments, name, {{name, source}});
  // The application gives every call as many bits: the field is the captured hint.
  EXPECT_EQ(formula.value, captured.value);
  EXPECT_GT(std::set<std::uint32_t>(captured.value.begin(), captured.value.end()).size(), 1U);
}

class Refusals : public testing::Test {
 protected:
  Refusals() {
    test::LaunchBuilder builder({3, 1, 1});
    builder.thread().begin(0).closest_hit(1, 0, 5, 0.25F);
    builder.thread().begin(0).closest_hit(1, 0, 15, 4).begin(0).closest_hit(1, 0, 300, 1);
    builder.thread().begin(0).miss(2);
    trace_.launches.push_back(builder.build());
    segments_ = cut_paths(launch(), pending_cut());
  }
  [[nodiscard]] const trace::Launch& launch() const {
    return trace_.launches[0];
  }
  [[nodiscard]] ErrorInfo refused(ErrorKind kind, const std::string& hint) const {
    return error_of(kind, [&] {
      const auto [name, source] = parse_hint(hint);
      return make_hints(trace_, launch(), segments_, name, {{name, source}});
    });
  }

  trace::Trace trace_;
  Segments segments_;
};

TEST_F(Refusals, ValuesThatDoNotFit) {
  const ErrorInfo error = refused(ErrorKind::Input, "p:8=primitive");
  EXPECT_EQ(error.what, "the hint does not fit 8 bits");
  EXPECT_EQ(error.where, "hint 'p', thread 1, ray 1");
  EXPECT_EQ(error.found, "300");
  EXPECT_EQ(error.expected, "0 to 255");
  EXPECT_EQ(error.fix, "take 9 bits, or wrap it, (primitive) % 256, or clamp it, clamp(primitive, 0, 255)");
  const ErrorInfo first = refused(ErrorKind::Input, "p:3=primitive");
  EXPECT_EQ(first.where, "hint 'p', thread 1, ray 0");
  EXPECT_EQ(first.fix.substr(0, 12), "take 9 bits,");  // enough for all
  const ErrorInfo negative = refused(ErrorKind::Input, "p:8=2 - primitive");
  EXPECT_EQ(negative.found, "-3");
  EXPECT_EQ(negative.fix.find("take"), std::string::npos);
}

TEST_F(Refusals, ValuesThatAreNoNumbers) {
  const ErrorInfo log = refused(ErrorKind::Input, "p:8=1 + log2(distance - 4)");
  EXPECT_EQ(log.what, "the formula gives no number for thread 0, ray 0");
  EXPECT_EQ(log.where, "hint 'p', column 5:\n  1 + log2(distance - 4)\n      ^");
  EXPECT_EQ(log.found, "log2(-3.75) is not a number");
  EXPECT_EQ(log.expected, "a number above 0");
  const ErrorInfo quotient = refused(ErrorKind::Input, "p:8=1 / (1 - miss)");
  EXPECT_EQ(quotient.found, "1 / 0 is infinite");
  EXPECT_EQ(quotient.what, "the formula gives no number for thread 2, ray 0");
}

TEST_F(Refusals, FieldsThatTheTraceLacks) {
  EXPECT_NE(refused(ErrorKind::Missing, "p:8=material").what.find("'material'"), std::string::npos);
  EXPECT_NE(refused(ErrorKind::Missing, "p:8=custom_index").what.find("instances"), std::string::npos);
  EXPECT_NE(refused(ErrorKind::Missing, "p:8=site").what.find("'site'"), std::string::npos);
  EXPECT_NE(refused(ErrorKind::Missing, "p:8=hint").what.find("'hint'"), std::string::npos);
}

TEST_F(Refusals, NamesAndBits) {
  for (const char* const text : {"p8=primitive", "p:8primitive", ":8=1", "P:8=1", "a b:8=1", "none:8=1", "captured:8=1",
                                 "auto:8=1", "p:0=1", "p:33=1", "p:x=1", "p:=1", "p:8 =1", "p:8=", "p:8=frob"}) {
    error_of(ErrorKind::Usage, [&] { return parse_hint(text); });
  }
  error_of(ErrorKind::Usage, [&] { return parse_hint_file("p:8="); });
  EXPECT_EQ(parse_hint_file("p:8=a=b:c").second.text, "a=b:c");
  const HintSources sources = {{"material", {HintOrigin::Expression, 4, "1"}}};
  const auto make = [&](std::string_view name) {
    return [&, name] { return make_hints(trace_, launch(), segments_, name, sources); };
  };
  EXPECT_EQ(error_of(ErrorKind::Usage, make("materiel")).fix, "did you mean 'material'?");
  error_of(ErrorKind::Missing, make("captured"));
  EXPECT_EQ(make("auto")().bits, 0U);
  EXPECT_EQ(make("none")().bits, 0U);
  EXPECT_EQ(make("material")().bits, 4U);
}

class HintFiles : public Refusals {
 protected:
  std::string write(const std::string& bytes) {
    const std::string path = (folder_.path() / "hints.bin").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  Hints read(const std::string& path, const std::string& bits) {
    const auto [name, source] = parse_hint_file("mine:" + bits + "=" + path);
    return make_hints(trace_, launch(), segments_, name, {{name, source}});
  }
  test::TemporaryFolder folder_;
};

TEST_F(HintFiles, HoldOneNumberPerRay) {
  const std::string path = write(std::string("\x01\0\0\0\x02\0\0\0\x00\x01\0\0\x04\0\0\0", 16));
  const Hints hints = read(path, "9");
  EXPECT_EQ(hints.bits, 9U);
  EXPECT_EQ(std::vector<std::uint32_t>(hints.value.begin(), hints.value.end()),
            (std::vector<std::uint32_t>{0, 1, 0, 2, 256, 0, 4}));
  const ErrorInfo error = error_of(ErrorKind::Input, [&] { return read(path, "8"); });
  EXPECT_EQ(error.where, path + "[2], hint 'mine', thread 1, ray 1");
  EXPECT_EQ(error.found, "256");
  EXPECT_EQ(error.expected, "0 to 255");
  EXPECT_EQ(error.fix, "take 9 bits, or write smaller numbers");
}

TEST_F(HintFiles, AreAsLongAsTheLaunchHasRays) {
  EXPECT_EQ(error_of(ErrorKind::Input, [&] { return read(write("abc"), "8"); }).found, "3 bytes");
  EXPECT_EQ(error_of(ErrorKind::Input, [&] { return read(write(""), "8"); }).found, "0 bytes");
  error_of(ErrorKind::Input, [&] { return read((folder_.path() / "nowhere").string(), "8"); });
  error_of(ErrorKind::Input, [&] { return read(folder_.path().string(), "8"); });
}

}  // namespace
}  // namespace rayreplay::scheduler
