#!/usr/bin/env bash
# Does a Vulkan program do the same under the capture layer, and is its trace whole? --help says more.
set -euo pipefail
command -v python3 >/dev/null || { echo "same_with_layer: python3 is missing" >&2; exit 2; }
exec python3 -B "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/same_with_layer" "$@"
