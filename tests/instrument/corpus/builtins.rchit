// Built-in variables that probes read, declared by the application as signed integers.
#version 460
#extension GL_EXT_ray_tracing : require
layout(location = 0) rayPayloadInEXT vec4 seen;
hitAttributeEXT vec2 where;
layout(shaderRecordEXT) buffer Record { vec4 colour; } record;

void main() {
  seen = record.colour * float(gl_InstanceID + gl_PrimitiveID + gl_GeometryIndexEXT + int(gl_HitKindEXT)) * gl_HitTEXT *
         gl_RayTmaxEXT * float(gl_LaunchIDEXT[int(seen.x) & 1]) / float(gl_LaunchSizeEXT.x) * where.x;
}
