#!/usr/bin/env python3
"""Published effects of sorting rays before they are traced, beside memory time: the table of docs/validation-ray-sorting.md.

One diffuse ray a thread, of a bounce of its path, in the order of the pixels and in sorted orders. Nothing is fitted. The
sort itself takes no time here, as in the published trace times. usage: validation/ray_sorting.py [PATH OF rayreplay] [--jobs N]
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import tempfile

MACHINE = "rtx2080-ti"
SCENES = ("hall", "statue")
BOUNCES = (1, 2, 4)
ORDERS = ("identity", "random", "origin-morton", "direction-morton", "origin-direction-morton")
# Meister, Boksansky, Guthe, Bittner, "On Ray Reordering Techniques for Faster GPU Ray Tracing", I3D 2020, abstract.
PUBLISHED = (1.3, 2.0)


def run(program, *arguments):
    return subprocess.run([program, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout


def figures(program, trace, order):
    """Metrics by name."""
    text = run(program, "run", "--set", f"trace={trace}", "--set", f"machine.name={MACHINE}", "--set", f"packing={order}",
               "--set", "outputs=time,cache", "--set", "schedule.time=memory", "--threads", "1", "--format", "json")
    return {row["metric"]: row["value"] for row in json.loads(text)["rows"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default="build/release/rayreplay")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--size", default="512x512", help="of the pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        traces = {}
        for scene in SCENES:
            for bounce in BOUNCES:
                traces[scene, bounce] = pathlib.Path(folder, f"{scene}-{bounce}.rrt")
        list(pool.map(lambda item: run(options.program, "trace", "--scene", item[0][0], "--integrator",
                                       f"diffuse:bounce={item[0][1]}", "--spp", "1", "--size", options.size, "-o", str(item[1])),
                      traces.items()))
        wanted = [(*key, order) for key in traces for order in ORDERS]
        made = dict(zip(wanted, pool.map(lambda one: figures(options.program, traces[one[0], one[1]], one[2]), wanted)))
    print(f"{MACHINE}, {options.size} rays; published: {PUBLISHED[0]} to {PUBLISHED[1]} times as fast\n")
    print("| scene, bounce | order | cycles | times as fast | L1 hits | L2 bytes a ray | DRAM bytes a ray | busiest | busy |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |")
    width, height = (int(part) for part in options.size.split("x"))
    for (scene, bounce, order), of in made.items():
        plain = made[scene, bounce, "identity"]["time_cycles"]
        busy = {name: of[f"time_{key}_busy"] for name, key in
                (("issue slots", "issue_slots"), ("ray-tracing units", "ray_tracing_units"), ("L2", "l2_bandwidth"),
                 ("DRAM", "dram_bandwidth"))}
        busiest = max(busy, key=busy.get)
        print(f"| {scene}, {bounce} | {order} | {of['time_cycles']:,.0f} | {plain / of['time_cycles']:.2f} | "
              f"{100 * of['l1_hit_rate']:.1f} % | {of['time_l2_bytes'] / (width * height):,.0f} | "
              f"{of['time_dram_bytes'] / (width * height):,.0f} | {busiest} | {100 * busy[busiest]:.0f} % |")


if __name__ == "__main__":
    main()
