#version 460
#extension GL_EXT_ray_tracing : require
layout(set=0,binding=3) uniform accelerationStructureEXT tlas;
layout(location=0) rayPayloadInEXT vec4 p;
layout(location=1) rayPayloadEXT vec4 q;
void main(){ traceRayEXT(tlas, 4u, 0xff, 0,1,0, vec3(0), 0.001, vec3(0,0,1), gl_HitTEXT, 1); p=q*float(gl_InstanceID+gl_GeometryIndexEXT); }
