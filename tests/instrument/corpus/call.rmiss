#version 460
#extension GL_EXT_ray_tracing : require
layout(location=0) rayPayloadInEXT vec4 p;
layout(location=0) callableDataEXT vec4 d;
void main(){ executeCallableEXT(2, 0); p=d; }
