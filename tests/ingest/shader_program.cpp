#include "tests/ingest/shader_program.hpp"

#include <bit>
#include <limits>

#include "capture/instrument/probes/record.h"

namespace rayreplay::test {
namespace {

using trace::EventKind;
using trace::kNone;
using trace::ShaderStage;

constexpr std::uint32_t kBoxGeometry = 1;

std::uint32_t bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

class ProgramWriter {
 public:
  ProgramWriter(const CaptureOptions& options, std::uint32_t tlas, Random& random)
      : options_(options), tlas_(tlas), random_(random) {}

  void write(Thread& thread) {
    const std::uint16_t raygen = shader_id(ShaderStage::RayGeneration, 0);
    step(thread, RR_RAY_GENERATION, raygen, {});
    access(thread, raygen);
    call(thread, raygen, 0);
    end_path(thread, raygen, thread.path);
  }

 private:
  std::uint16_t any_of(ShaderStage stage) {
    return shader_id(stage, random_.below(2));
  }

  void step(Thread& thread, std::uint32_t kind, std::uint16_t shader, std::vector<std::uint32_t> fields,
            std::uint32_t site = 0) {
    thread.steps.push_back({kind, shader, site, std::move(fields), SIZE_MAX, SIZE_MAX});
  }
  /// Some accesses of a shader, if any are wanted.
  void access(Thread& thread, std::uint16_t shader) {
    while (options_.accesses && random_.one_in(2)) {
      const std::uint32_t site = random_.below(access_sites(shader));
      if (!has_access_site(shader, site)) {
        continue;
      }
      const bool image = space_of_site(site) == trace::AccessSpace::Image;
      const bool long_address = image || space_of_site(site) == trace::AccessSpace::Device;
      const bool no_texel = image && shader % 6 == 0 && random_.one_in(3);  // of one module: tests lose others
      const auto low = no_texel ? RR_NO_TEXEL : static_cast<std::uint32_t>(random_.bits());
      const auto high = no_texel ? RR_NO_TEXEL : random_.below(1000);
      if (long_address) {
        step(thread, image ? RR_ACCESS_IMAGE : RR_ACCESS_ADDRESS, shader, {low, high}, site);
      } else {
        step(thread, RR_ACCESS_OFFSET, shader, {low}, site);
      }
      thread.steps.back().access = thread.accesses.size();
      thread.accesses.push_back({shader, site, static_cast<std::uint32_t>(thread.events.size()),
                                 low | (long_address ? std::uint64_t{high} << 32U : 0U), kNone, !no_texel});
    }
  }
  ExpectedEvent& event(Thread& thread, EventKind kind, std::uint16_t shader, std::uint32_t ray) {
    thread.steps.back().event = thread.events.size();
    ExpectedEvent& result = thread.events.emplace_back();
    result.kind = kind;
    result.shader = shader;
    result.ray = ray;
    return result;
  }

  /// The record of a path, at the end of a call or where it may end.
  void end_path(Thread& thread, std::uint16_t shader, ExpectedPath& path, bool goes_on = false) {
    access(thread, shader);
    if (!options_.paths || !has_paths(shader)) {
      return;
    }
    path.first = random_.one_in(6) ? 300 : 1 + random_.below(2);
    path.second = random_.below(3) % (path.first + 1);
    const std::uint8_t flag = goes_on ? 0x80 : 0;
    if (path.first > 255) {
      step(thread, RR_PATH, shader, {path.first, path.second}, flag | 2U);
    } else {
      // Bytes behind the last counter mean nothing.
      step(thread, RR_PATH_BYTES, shader, {path.first | path.second << 8U | random_.below(200) << 16U}, flag | 1U);
    }
  }
  void end_path(Thread& thread, std::uint16_t shader, std::size_t event, bool goes_on = false) {
    ExpectedPath path;
    end_path(thread, shader, path, goes_on);
    thread.events[event].path = path;
  }

  struct Hit {
    float t = 0;
    std::uint32_t instance = 0, geometry = 0, primitive = 0;
  };
  Hit random_hit(bool box) {
    const std::uint32_t geometry = box ? kBoxGeometry : 0;
    return {random_.unit() + 2, random_.below(2 + tlas_), geometry, random_.below(box ? 9 : 40)};
  }
  static void describe_hit(ExpectedEvent& event, const Hit& hit, std::uint8_t hit_kind) {
    event.t = hit.t;
    event.instance = hit.instance;
    event.primitive = hit.primitive;
    event.geometry = static_cast<std::uint16_t>(hit.geometry);
    event.hit_kind = hit_kind;
  }

  void any_hit(Thread& thread, std::uint32_t ray, const Hit& hit, std::uint8_t hit_kind) {
    const std::uint16_t shader = any_of(ShaderStage::AnyHit);
    step(thread, RR_ANY_HIT, shader,
         {bits(hit.t), hit.instance, hit.primitive, hit.geometry | std::uint32_t{hit_kind} << 24U});
    const std::size_t entry = thread.events.size();
    describe_hit(event(thread, EventKind::AnyHit, shader, ray), hit, hit_kind);
    if (random_.one_in(3)) {
      const bool ignore = random_.one_in(2);
      step(thread, ignore ? RR_IGNORE : RR_TERMINATE, shader, {});
      event(thread, ignore ? EventKind::IgnoreIntersection : EventKind::TerminateRay, shader, ray);
    }
    end_path(thread, shader, entry);
  }

  void traversal(Thread& thread, std::uint32_t ray) {
    for (std::uint32_t tests = random_.below(4); tests > 0; --tests) {
      if (random_.one_in(2)) {
        any_hit(thread, ray, random_hit(false), 0xFE);
        continue;
      }
      const Hit hit = random_hit(true);
      const std::uint16_t shader = any_of(ShaderStage::Intersection);
      step(thread, RR_INTERSECTION, shader, {bits(hit.t), hit.instance, hit.primitive, hit.geometry});
      const std::size_t entry = thread.events.size();
      describe_hit(event(thread, EventKind::Intersection, shader, ray), hit, 0);
      bool ended = false;
      for (std::uint32_t reports = random_.below(3); reports > 0; --reports) {
        Hit reported = hit;
        reported.t = random_.unit();
        const auto hit_kind = static_cast<std::uint8_t>(random_.below(100));
        step(thread, RR_REPORT, shader, {bits(reported.t), hit_kind});
        const std::size_t at = thread.events.size();
        describe_hit(event(thread, EventKind::ReportIntersection, shader, ray), reported, hit_kind);
        thread.events[at].accepted = 1;
        end_path(thread, shader, entry, true);
        if (random_.one_in(2)) {
          any_hit(thread, ray, reported, hit_kind);
        }
        if (random_.one_in(2)) {
          step(thread, RR_REPORT_REJECTED, shader, {});
          thread.events[at].accepted = 0;
        } else {
          ended = options_.paths && reports == 1 && random_.one_in(2);  // nothing behind an accepted report runs
        }
      }
      if (!ended) {
        end_path(thread, shader, entry);
      }
    }
  }

  std::uint32_t trace_call(Thread& thread, std::uint16_t caller, bool hit_object) {
    const auto ray = static_cast<std::uint32_t>(thread.rays.size());
    ExpectedRay expected;
    for (std::size_t c = 0; c < 3; ++c) {
      expected.origin[c] = random_.unit();
      expected.direction[c] = random_.unit();
    }
    expected.t_min = 0.25F;
    expected.t_max = random_.one_in(3) ? std::numeric_limits<float>::infinity() : 9;
    expected.flags = static_cast<std::uint16_t>(random_.below(1U << 10U));
    expected.miss = static_cast<std::uint16_t>(random_.below(70'000));
    expected.cull = static_cast<std::uint8_t>(random_.bits());
    expected.offset = static_cast<std::uint8_t>(random_.below(16));
    expected.stride = static_cast<std::uint8_t>(random_.below(16));
    expected.site = static_cast<std::uint8_t>(random_.below(200));
    const std::uint32_t sbt = expected.cull | std::uint32_t{expected.offset} << 8U |
                              std::uint32_t{expected.stride} << 12U | (hit_object ? 1U << 16U : 0U);
    // A marker; where there are two, the last one counts.
    for (std::uint32_t left = options_.markers ? random_.below(3) : 0; left > 0; --left) {
      expected.hint = static_cast<std::uint32_t>(random_.bits());
      expected.hint_bits = 32;
      step(thread, RR_HINT, caller, {expected.hint});
    }
    step(thread, RR_TRACE, caller,
         {expected.flags, sbt, expected.miss, bits(expected.origin[0]), bits(expected.origin[1]),
          bits(expected.origin[2]), bits(expected.t_min), bits(expected.direction[0]), bits(expected.direction[1]),
          bits(expected.direction[2]), bits(expected.t_max)},
         expected.site);
    const bool occlusion = (expected.flags & trace::kRayFlagSkipClosestHit) != 0;
    thread.rays.push_back(expected);
    event(thread, occlusion ? EventKind::OcclusionBegin : EventKind::Begin, caller, ray);
    traversal(thread, ray);
    return ray;
  }

  void shade(Thread& thread, std::uint32_t ray, std::uint32_t depth) {
    const bool occlusion = (thread.rays[ray].flags & trace::kRayFlagSkipClosestHit) != 0;
    const std::uint32_t outcome = random_.below(6);
    if (outcome == 0) {
      return;
    }
    const bool miss = occlusion || outcome < 3;
    const std::uint16_t shader = any_of(miss ? ShaderStage::Miss : ShaderStage::ClosestHit);
    const std::size_t entry = thread.events.size();
    if (miss) {
      step(thread, RR_MISS, shader, {});
      event(thread, EventKind::Miss, shader, ray);
    } else {
      const bool box = random_.one_in(2);
      const Hit hit = random_hit(box);
      step(thread, RR_CLOSEST_HIT, shader,
           {bits(hit.t), hit.instance, hit.primitive, hit.geometry | (box ? 7U : 0xFFU) << 24U});
      describe_hit(event(thread, EventKind::ClosestHit, shader, ray), hit, box ? 7 : 0xFF);
    }
    if (options_.recursion && depth < 3) {
      call(thread, shader, depth + 1);
    }
    end_path(thread, shader, entry);
  }

  void callable(Thread& thread) {
    const std::uint16_t shader = any_of(ShaderStage::Callable);
    step(thread, RR_CALLABLE, shader, {});
    const std::size_t entry = thread.events.size();
    event(thread, EventKind::Callable, shader, kNone);
    end_path(thread, shader, entry);
  }

  void call(Thread& thread, std::uint16_t shader, std::uint32_t depth) {
    std::uint32_t rays_of_call = 0;
    for (std::uint32_t actions = random_.below(depth == 0 ? options_.actions + 1 : 2); actions > 0; --actions) {
      access(thread, shader);
      if (random_.one_in(6)) {
        callable(thread);
      }
      if (depth == 0 && options_.hit_objects && random_.one_in(2)) {
        // Two hit objects at once, reordered and executed in any order; or one that is thrown away.
        const std::uint32_t first = trace_call(thread, shader, true);
        const std::uint32_t first_number = rays_of_call++;
        const std::uint32_t second = trace_call(thread, shader, true);
        const std::uint32_t second_number = rays_of_call++;
        if (random_.one_in(2)) {
          const std::uint32_t hint = random_.below(100);
          step(thread, RR_REORDER, shader, {hint, 7U | first_number << 8U});
          event(thread, EventKind::Reorder, shader, first);
          thread.rays[first].hint = hint;
          thread.rays[first].hint_bits = 7;
        }
        if (random_.one_in(4)) {
          step(thread, RR_REORDER, shader, {5, 3U | std::uint32_t{RR_NO_RAY} << 8U});
          event(thread, EventKind::Reorder, shader, kNone);
        }
        if (random_.one_in(2)) {
          step(thread, RR_EXECUTE, shader, {second_number});
          shade(thread, second, depth);
        }
        step(thread, RR_EXECUTE, shader, {first_number});
        shade(thread, first, depth);
        continue;
      }
      const std::uint32_t ray = trace_call(thread, shader, false);
      ++rays_of_call;
      shade(thread, ray, depth);
    }
  }

  const CaptureOptions& options_;
  std::uint32_t tlas_;
  Random& random_;
};

}  // namespace

void write_program(Thread& thread, const CaptureOptions& options, std::uint32_t tlas, Random& random) {
  ProgramWriter(options, tlas, random).write(thread);
}

}  // namespace rayreplay::test
