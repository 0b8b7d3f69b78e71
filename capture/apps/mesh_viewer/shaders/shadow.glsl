// The shadow ray that a hit asked for: anything in its way will do, and no closest-hit shader is called.
void test_shadow() {
  if ((path.flags & kPathTestsShadow) == 0) {
    return;
  }
  path.flags &= ~kPathTestsShadow;
  visible = 0;
  traceRayEXT(scene, params.ray_flags | gl_RayFlagsTerminateOnFirstHitEXT | gl_RayFlagsSkipClosestHitShaderEXT, 0xFF, 0,
              params.sbt_stride, kShadowMiss, path.origin, params.t_min, path.shadow_direction, path.shadow_distance, 1);
  if (visible != 0) {
    path.radiance += path.shadow_radiance;
  }
}
