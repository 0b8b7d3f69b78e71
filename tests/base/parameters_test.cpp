#include "base/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay {
namespace {

const std::vector<Parameter> kDeclared{
    {"seed", std::int64_t{7}, "", "Seed.", 0, 100, {}},
    {"scale", 0.5, "m", "Scale.", 0, 1, {}},
    {"curve", std::string("morton"), "", "Curve.", 0, 0, {"morton", "hilbert"}},
    {"tiled", false, "", "Tiled.", 0, 0, {}},
};

std::string message(const char* spec_text) {
  return test::message_of(ErrorKind::Usage, [&] {
    const ModelSpec spec = parse_spec(spec_text);
    (void)resolve(kDeclared, spec.settings, "packing 'x'");
  });
}

TEST(Parameters, DefaultsAreFilledInAndSpecIsComplete) {
  const ModelSpec spec = parse_spec("x:seed=9,tiled=true");
  EXPECT_EQ(spec.name, "x");
  const Parameters values = resolve(kDeclared, spec.settings, "x");
  EXPECT_EQ(values.get_int("seed"), 9);
  EXPECT_EQ(values.get_double("scale"), 0.5);
  EXPECT_EQ(values.get_string("curve"), "morton");
  EXPECT_TRUE(values.get_bool("tiled"));
  EXPECT_EQ(to_spec("x", values), "x:seed=9,scale=0.5,curve=morton,tiled=true");
}

TEST(Parameters, MistakesAreNamedWithTheirFix) {
  EXPECT_THAT(message("x:sed=1"), testing::HasSubstr("did you mean 'seed'?"));
  EXPECT_THAT(message("x:seed=101"), testing::HasSubstr("0 to 100"));
  EXPECT_THAT(message("x:seed=1.5"), testing::HasSubstr("not a whole number"));
  EXPECT_THAT(message("x:seed="), testing::HasSubstr("not a whole number"));
  EXPECT_THAT(message("x:scale=nan"), testing::HasSubstr("out of range"));
  EXPECT_THAT(message("x:curve=hilbrt"), testing::HasSubstr("did you mean 'hilbert'?"));
  for (const char* word : {"maybe", "yes", "no", "1", "0", "True", ""}) {
    EXPECT_THAT(message((std::string("x:tiled=") + word).c_str()), testing::HasSubstr("true or false")) << word;
  }
  EXPECT_THAT(message("x:seed=1,seed=2"), testing::HasSubstr("given twice"));
  EXPECT_THAT(message("x:seed"), testing::HasSubstr("key=value"));
  EXPECT_THAT(message(":seed=1"), testing::HasSubstr("name is missing"));
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  EXPECT_EQ(nearest("numray", {"numrays", "objects"}), "numrays");
  EXPECT_EQ(nearest("elephant", {"numrays", "objects"}), "");
}

TEST(Nearest, APartBetweenHyphensIsNear) {
  const std::vector<std::string> policies{"min-shader", "oldest-lane", "stage-majority"};
  EXPECT_EQ(nearest("majority", policies), "stage-majority");
  EXPECT_EQ(nearest("closest", {"any-hit", "closest-hit"}), "closest-hit");
  EXPECT_EQ(nearest("shader-by-rays", {"sort-shader-by-rays-down"}), "sort-shader-by-rays-down");
  EXPECT_EQ(nearest("jority", policies), "") << "not a whole part";
  EXPECT_EQ(nearest("", {"much-longer-than-two"}), "");
}

struct Shape {
  static constexpr const char* kModelKind = "shape";
  std::int64_t sides;
};

const Registry<Shape>::Registrar kPolygon(
    {"", "polygon", "Sides.", "", "test", {{"sides", std::int64_t{3}, "", "", 3, 9, {}}}},
    [](const Parameters& p) { return std::make_unique<Shape>(Shape{p.get_int("sides")}); });

TEST(Registry, CreatesFromSpecAndSuggestsNames) {
  const auto created = Registry<Shape>::create("polygon:sides=5");
  EXPECT_EQ(created.model->sides, 5);
  EXPECT_EQ(created.spec, "polygon:sides=5");
  try {
    (void)Registry<Shape>::create("poligon");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'polygon'?"));
  }
}

}  // namespace
}  // namespace rayreplay
