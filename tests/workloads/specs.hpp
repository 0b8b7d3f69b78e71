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
    "pointer-chase:loads=1",
    "pointer-chase:level=l1,loads=1",
    "pointer-chase:level=l2,loads=1,visits=1",
    "pointer-chase:level=l2,loads=3000",
    "pointer-chase:level=dram,loads=2000,visits=1024",
    "streaming:resident_warps=1,lines=1",
    "streaming:resident_warps=1,lines=4096",
    "streaming:resident_warps=32,lines=8",
    "streaming:access=store,resident_warps=1,lines=1",
    "streaming:access=store,resident_warps=3,lines=300",
    "compute-bound:instructions=1,warps=1,rounds=1",
    "compute-bound:instructions=1,warps=8,rounds=40",
    "compute-bound:instructions=100000,warps=3,rounds=2",
    "compute-bound:instructions=7,latency=300,warps=5,rounds=9",
    "compute-bound:latency=1048576,rounds=2",
    "ray-tests:visits=1,boxes=0,triangles=1,warps=1,rounds=1",
    "ray-tests:visits=3,boxes=5,triangles=7,warps=3,rounds=2",
    "ray-tests:visits=32768,boxes=32768,triangles=32768,warps=8,rounds=3",
    "littles-law:resident_warps=1,rounds=1",
    "littles-law:resident_warps=2",
    "littles-law:resident_warps=3,rounds=7",
    "littles-law:resident_warps=8",
    "littles-law:resident_warps=24",
    "littles-law:resident_warps=32,rounds=40",
    "littles-law:resident_warps=48,rounds=4",
    "mshr-bound:loads=1",
    "mshr-bound:loads=1,clauses=100",
    "mshr-bound:loads=300,clauses=7",
    "mshr-bound:loads=5000",
    "rays-in-flight:rays=1024,resident_warps=32",
    "rays-in-flight:rays=9,resident_warps=5,rounds=3",
    "rays-in-flight:resident_warps=1,rounds=1",
    "state-reordering:delay=0,lines=1,resident_warps=1",
    "state-reordering:delay=0,lines=0",
    "state-reordering:delay=1048576,lines=16",
    "state-reordering:lines=8,resident_warps=32",
    "state-reordering:lines=7,resident_warps=5",
    "overlap:instructions=1,warps=1",
    "overlap:instructions=33,warps=7",
    "overlap:instructions=5000,warps=2",
    "overlap:instructions=3,warps=12",
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
