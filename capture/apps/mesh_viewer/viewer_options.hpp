// What only the mesh viewer is asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rayreplay::apps {

struct ViewerOptions {
  std::string scene = "hall";
  std::vector<float> camera;  ///< from x y z, at x y z, and perhaps the vertical field of view; empty: the scene's
  std::string light = "auto";
  bool alpha = false;
  bool compact = false;
  bool animate = false;
  bool index16 = false;
};

}  // namespace rayreplay::apps
