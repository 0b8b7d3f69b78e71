#!/usr/bin/env bash
# Some Vulkan device of this machine offers ray-tracing pipelines and acceleration structures.
set -euo pipefail
command -v vulkaninfo >/dev/null || { echo "vulkaninfo is missing: run ./rr setup"; exit 1; }
report=$(env -u DISPLAY -u WAYLAND_DISPLAY vulkaninfo 2>/dev/null)
for extension in VK_KHR_ray_tracing_pipeline VK_KHR_acceleration_structure; do
  if ! grep -q "$extension" <<<"$report"; then
    echo "no Vulkan device with $extension; found: $(grep -m3 deviceName <<<"$report" | xargs)"
    exit 1
  fi
done
grep -m1 deviceName <<<"$report"
