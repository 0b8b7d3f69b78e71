// Workloads that tests go through: every generator's own examples, and a grid of parameters beside them.
#pragma once

#include <string>
#include <vector>

#include "sim/workloads/workload.hpp"

namespace rayreplay::test {

/// Beside every generator's own examples.
inline const std::vector<std::string> kGrid = {
    "divergence:degree=2",
    "divergence:degree=3,bounces=2",
    "divergence:degree=5,bounces=3,warps=7",
    "divergence:degree=33",
    "divergence:degree=40,bounces=2,warps=3",
    "divergence:degree=4,warp_size=8",
    "divergence:degree=64,warp_size=64,bounces=2",
    "divergence:degree=3,warp_size=1",
    "divergence:degree=6,placement=blocked,bounces=4,warps=6",
    "shader-cost:ratio=2.5,share=0.25",
    "shader-cost:ratio=1000,share=0.96875",
    "shader-cost:ratio=7,share=0,warps=8",
    "shader-cost:ratio=20,share=0.5,cost=1000",
    "shader-cost:ratio=3,share=0.3,warp_size=10,warps=20",
    "ser-pool:shaders=1",
    "ser-pool:shaders=2,warps=48",
    "ser-pool:shaders=32",
    "ser-pool:shaders=7,warps=33",
    "ser-pool:shaders=40,warp_size=16,warps=12",
    "coherence:coherence=0.99",
    "coherence:coherence=0.2,shaders=3,seed=9",
    "coherence:coherence=0,shaders=32,seed=2",
    "coherence:coherence=0.5,shaders=1,cells=1",
    "coherence:coherence=1,shaders=13,cells=7,warp_size=64",
    "box-overlap:overlap=0.25",
    "box-overlap:overlap=0.75,primitives=512",
    "box-overlap:overlap=0.97,primitives=100,warps=11",
    "box-overlap:overlap=0.999,primitives=40",
    "box-overlap:overlap=0,primitives=4096",
    "box-overlap:overlap=0.3,primitives=1",
    "box-overlap:overlap=0.5,kind=boxes,primitives=9,warp_size=16",
    "box-overlap:overlap=1,kind=boxes,primitives=20",
    "stride:stride=8",
    "stride:stride=12,instructions=77",
    "stride:stride=124,repeats=3",
    "stride:stride=132",
    "stride:stride=4096,instructions=50",
    "stride:stride=20,warp_size=7,instructions=31,repeats=2",
    "stride:stride=4,warp_size=64",
    "working-set:lines=1,passes=5",
    "working-set:lines=2,passes=3,sms=2",
    "working-set:lines=100,passes=7,sms=3",
    "working-set:lines=100,passes=7,sms=3,share=shared",
    "working-set:lines=64,passes=1",
    "working-set:pattern=random,lines=64,passes=100,sms=2,seed=5",
    "working-set:pattern=random,lines=1000,passes=8,share=shared,sms=3",
    "reuse-distance:near=0,blocks=5",
    "reuse-distance:near=1,blocks=2,repeats=2,rounds=2",
    "reuse-distance:near=30,blocks=3,repeats=1,rounds=6",
    "reuse-distance:near=100,blocks=1,repeats=9,rounds=1",
};

inline std::vector<std::string> all_specs() {
  std::vector<std::string> specs;
  for (const std::string& name : workloads::Workloads::names()) {
    specs.push_back(name);
    for (const std::string& example : workloads::Workloads::create(name).model->examples()) {
      specs.push_back(example);
    }
  }
  specs.insert(specs.end(), kGrid.begin(), kGrid.end());
  return specs;
}

}  // namespace rayreplay::test
