#!/usr/bin/env python3
"""Measures how long a GPU's traversal takes with its rays in different orders, to compare memory time with.

  measure_time.py BIN WORK NAME=TRACE.rrt ...

BIN: folder with rayreplay's memory_image; WORK: an empty folder; TRACE: one ray a thread through one untransformed
instance of one mesh (`rayreplay trace --scene statue --integrator primary|diffuse --spp 1 --size 512x512`), its sides
multiples of 8. Needs nvcc and ncu (compute capability 9.0). For each trace, order of its rays (launch order linear,
one packing after the other) and form of launch the kernel of tracer.cu runs under ncu. Writes WORK/measured.csv, a file
for `rayreplay calibrate` (metric time_cycles), and WORK/counters.json, and prints Markdown. Cycles are the median of
REPEATS runs.
"""
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys

import measure

METRICS = {
    **measure.METRICS,
    "cycles": "sm__cycles_elapsed.max",
    "instructions": "smsp__inst_executed.sum",
}
ORDERS = ("identity", "random", "numrays", "origin-morton", "direction-morton")
LAUNCHES = ("persistent", "grid")
REPEATS = 3


def counters(tracer, image, launch):
    runs = measure.counters_of_runs(tracer, image, ["--launch", launch, "--repeat", REPEATS], METRICS)
    if len(runs) != REPEATS:
        sys.exit(f"ncu saw {len(runs)} runs of the kernel, {REPEATS} were made")
    return {name: statistics.median(run[name] for run in runs) for name in METRICS}


def main():
    words = sys.argv[1:]
    if len(words) < 3:
        sys.exit(__doc__)
    binaries, work = pathlib.Path(words[0]).resolve(), pathlib.Path(words[1]).resolve()
    work.mkdir(parents=True, exist_ok=True)
    build = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    tracer = work / "tracer"
    subprocess.run(["nvcc", "-O3", "-arch=sm_90", "-fmad=false", "-std=c++17", "-o", tracer, measure.HERE / "tracer.cu"],
                   check=True, env=build)
    rows = []
    for word in words[2:]:
        name, path = word.split("=", 1)
        for order in ORDERS:
            image = work / "image.bin"
            measure.run(binaries / "memory_image", path, image, "medium", "breadth-first", order)
            for launch in LAUNCHES:
                print(measure.run(tracer, image, "--launch", launch), file=sys.stderr, end="")
                rows.append({"name": f"{name}, {order}, {launch}", "trace": pathlib.Path(path).name, "packing": order,
                             "gpu": counters(tracer, image, launch)})
                (work / "counters.json").write_text(json.dumps(rows, indent=1))
    with open(work / "measured.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["name", "trace", "packing", "metric", "value"])
        for row in rows:
            writer.writerow([row["name"], row["trace"], row["packing"], "time_cycles", int(row["gpu"]["cycles"])])
    measure.print_table(
        ["launch", "cycles", "instructions", "L1 hit rate", "L2 sectors", "DRAM bytes"],
        [[row["name"], f"{row['gpu']['cycles']:,.0f}", f"{row['gpu']['instructions']:,.0f}",
          f"{100 * row['gpu']['l1_hits'] / row['gpu']['l1_sectors']:.1f} %", f"{row['gpu']['l2_sectors']:,.0f}",
          f"{row['gpu']['dram_bytes']:,.0f}"] for row in rows])


if __name__ == "__main__":
    main()
