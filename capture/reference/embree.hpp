// Adapters for the differences between Embree 3 and Embree 4.
#pragma once

#if __has_include(<embree3/rtcore.h>)
#include <embree3/rtcore.h>
#else
#include <embree4/rtcore.h>
#endif

namespace rayreplay::reference::embree {

#if RTC_VERSION_MAJOR < 4

using Context = RTCIntersectContext;

inline void init_context(Context& context) {
  rtcInitIntersectContext(&context);
}
inline void intersect(RTCScene scene, Context& context, RTCRayHit& ray) {
  rtcIntersect1(scene, &context, &ray);
}
inline void occluded(RTCScene scene, Context& context, RTCRay& ray) {
  rtcOccluded1(scene, &context, &ray);
}

#else

using Context = RTCRayQueryContext;

inline void init_context(Context& context) {
  rtcInitRayQueryContext(&context);
}
inline void intersect(RTCScene scene, Context& context, RTCRayHit& ray) {
  RTCIntersectArguments arguments;
  rtcInitIntersectArguments(&arguments);
  arguments.context = &context;
  rtcIntersect1(scene, &ray, &arguments);
}
inline void occluded(RTCScene scene, Context& context, RTCRay& ray) {
  RTCOccludedArguments arguments;
  rtcInitOccludedArguments(&arguments);
  arguments.context = &context;
  rtcOccluded1(scene, &ray, &arguments);
}

#endif

}  // namespace rayreplay::reference::embree
