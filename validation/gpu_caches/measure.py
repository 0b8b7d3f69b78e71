#!/usr/bin/env python3
"""Holds rayreplay's cache models against the counters of a GPU that runs the same traversal at the same addresses.

  measure.py BIN WORK TRACE512 [TRACE2048 [LARGE]]

BIN: folder with rayreplay and memory_image; WORK: an empty folder; TRACE…: primary rays through one untransformed
instance of one mesh, of 512x512 and 2048x2048 pixels (`rayreplay trace --scene statue --integrator primary --spp 1
--size 512x512`), LARGE: of a mesh beyond the L2 (`--scene statue:level=10 --size 1024x1024`). Needs nvcc and ncu
(compute capability 9.0). For each configuration of the published study: the counters of tracer.cu under ncu; the same
kernel's accesses as it issued them, recorded and put through `rayreplay cache`; and what `rayreplay cache` says without
having seen the GPU, both with several replacement policies. Prints Markdown and writes WORK/measured.json, anew after
each configuration. Sectors are 32 bytes. The tracer reads its rays from memory, 32 bytes a ray, never twice; they are
in the recorded stream but not in rayreplay's own: there one miss a ray is added.
"""
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
METRICS = {
    "requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l2_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_hits": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "dram_bytes": "dram__bytes_read.sum",
    "carve_out": "launch__shared_mem_config_size",
}
L1_KIB = 124  # 256 less the carve-out of 132 that the tracer's stacks take with 16 warps an SM
BASE = {"builder": "medium", "vertices": "breadth-first", "form": "while-while", "schedule": "scanline", "trace": "512"}
REPLACEMENTS = ("lru", "fifo", "random")
CONFIGURATIONS = [
    ("base", {}),
    ("median split", {"builder": "median"}),
    ("random vertices", {"vertices": "random"}),
    ("scanline per SM", {"schedule": "scanline-per-sm"}),
    ("if-if", {"form": "if-if"}),
    ("8 M triangles, 1024²", {"trace": "large"}),
    ("2048²", {"trace": "2048"}),
]


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def counters_of_runs(tracer, image, options, metrics):
    """Of each run of the kernel, in their order."""
    text = run("ncu", "--clock-control", "none", "--csv", "--print-units", "base", "-k", "regex:traced", "--metrics",
               ",".join(metrics.values()), tracer, image, *options)
    runs = {}
    for row in csv.DictReader(io.StringIO(text[text.index('"ID"'):])):
        runs.setdefault(row["ID"], {})[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return [{name: values[metric] for name, metric in metrics.items()} for values in runs.values()]


def counters(tracer, image, options):
    return counters_of_runs(tracer, image, options, METRICS)[0]


def cache(binary, path, replacement, options):
    document = json.loads(run(binary, "cache", path, "--machine", "h200", "--l1", f"{L1_KIB}KiB:ways=62", "--l1-model",
                              f"{replacement}:write=through,allocate=false", "--format", "json", "--no-distances", *options))
    l1, l2 = (level["counts"] for level in document["levels"])
    return {"l1_filled": l1["sectors_filled"], "dram_bytes": document["summary"]["dram_read_bytes"],
            "l2_filled": l2["sectors_filled"], "requests": document["summary"]["requests"],
            "delivered": sum(row["delivered_bytes"] for row in document["rows"]
                             if row["level"] == "L1" and row["kind"] not in ("all", "frame-buffer")) // 32}


def measure(binaries, work, traces, name, change):
    chosen = {**BASE, **change}
    if chosen["trace"] not in traces:
        return None
    trace = traces[chosen["trace"]]
    image = work / "image.bin"
    recorded = work / "recorded.txt"
    run(binaries / "memory_image", trace, image, chosen["builder"], chosen["vertices"])
    options = ["--form", chosen["form"], "--schedule", chosen["schedule"]]
    tracer = work / "tracer"
    checked = run(tracer, image, *options, "--trace", recorded)
    print(checked, file=sys.stderr, end="")
    gpu = counters(tracer, image, options)
    simulated = ["--builder", chosen["builder"], "--layout", "binary", "--leaf-size", 1, "--vertex-order", chosen["vertices"],
                 "--warp-traversal", chosen["form"], "--schedule", chosen["schedule"], "--resident-warps", 16,
                 "--load-bytes", 16, "--payload-bytes", 0, "--record-bytes", 0]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        own = {model: pool.submit(cache, binaries / "rayreplay", trace, model, simulated) for model in REPLACEMENTS}
        seen = {model: pool.submit(cache, binaries / "rayreplay", recorded, model, []) for model in REPLACEMENTS}
        own, seen = ({model: job.result() for model, job in jobs.items()} for jobs in (own, seen))
    recorded.unlink()
    rays = int(re.search(r"of (\d+) hits", checked).group(1))
    return {"name": name, **chosen, "rays": rays, "gpu": gpu, "recorded": seen, "own": own}


def print_table(columns, rows):
    print("| " + " | ".join(columns) + " |\n| --- |" + " ---: |" * (len(columns) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def tables(results):
    l1_rows, rate_rows, l2_rows, dram_rows = [], [], [], []
    for row in results:
        gpu, rays = row["gpu"], row["rays"]  # sectors of the ray arrays: 32 bytes a ray, which simulated streams lack
        l1 = gpu["l1_sectors"] - gpu["l1_hits"]
        l2 = gpu["l2_sectors"] - gpu["l2_hits"]
        seen, own = row["recorded"], row["own"]
        l1_rows.append([row["name"], f"{l1:,.0f}"] +
                       [f"{100 * (seen[model]['l1_filled'] / l1 - 1):+.1f} %" for model in REPLACEMENTS] +
                       [f"{100 * ((own[model]['l1_filled'] + rays) / l1 - 1):+.1f} %" for model in REPLACEMENTS])
        l2_rows.append([row["name"], f"{l2:,.0f}", f"{100 * (seen['lru']['l2_filled'] / l2 - 1):+.1f} %",
                        f"{100 * ((own['lru']['l2_filled'] + rays) / l2 - 1):+.1f} %"])
        dram_rows.append([row["name"], f"{gpu['dram_bytes'] / 1e6:.2f} MB",
                          f"{100 * (seen['lru']['dram_bytes'] / gpu['dram_bytes'] - 1):+.1f} %",
                          f"{100 * ((own['lru']['dram_bytes'] + 32 * rays) / gpu['dram_bytes'] - 1):+.1f} %"])
        rates = [f"{100 * (1 - seen[model]['l1_filled'] / seen[model]['delivered']):.1f} %" for model in REPLACEMENTS]
        rate_rows.append([row["name"], f"{100 * gpu['l1_hits'] / gpu['l1_sectors']:.1f} %"] + rates)
    names = [f"{what}, {model}" for what in ("recorded", "simulated") for model in REPLACEMENTS]
    print_table(["L1 sector misses", "GPU", *names], l1_rows)
    print_table(["L1 hit rate of load sectors", "GPU", *names[:len(REPLACEMENTS)]], rate_rows)
    print_table(["L2 sector misses", "GPU", "recorded", "simulated"], l2_rows)
    print_table(["read from DRAM", "GPU", "recorded", "simulated"], dram_rows)


def main():
    words = sys.argv[1:]
    if len(words) not in (3, 4, 5):
        sys.exit(__doc__)
    binaries, work = pathlib.Path(words[0]).resolve(), pathlib.Path(words[1]).resolve()
    traces = dict(zip(("512", "2048", "large"), (pathlib.Path(word).resolve() for word in words[2:])))
    work.mkdir(parents=True, exist_ok=True)
    build = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    subprocess.run(["nvcc", "-O3", "-arch=sm_90", "-fmad=false", "-std=c++17", "-o", work / "tracer", HERE / "tracer.cu"],
                   check=True, env=build)
    results = []
    for name, change in CONFIGURATIONS:
        if row := measure(binaries, work, traces, name, change):
            results.append(row)
            (work / "measured.json").write_text(json.dumps(results, indent=1))
    tables(results)


if __name__ == "__main__":
    main()
