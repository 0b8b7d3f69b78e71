#!/usr/bin/env python3
"""The published study of ray tracers' caches beside ours: the tables of docs/validation-caches.md.

  cache_published.py [--quick] [--work DIR] [--jobs N] [RAYREPLAY]

Von Buelow, Riemann, Guthe, Fellner, Profiling and Visualizing GPU Memory Access and Cache Behavior of Ray Tracers, EGPGV
2023. Its base configuration and changes of it, one at a time, on meshes of ours, first counted as the study counts
(every lane by itself, probabilities from reuse distances, L2 fed by every access), then step by step as a GPU has it.
Nothing is fitted. --quick: a sixteenth of frame, SMs and L2, a quarter of the mesh; a minute or two. --work keeps the
traces there and takes those that are there. --jobs: so many simulations at a time, each of which wants two or three
cores and a gigabyte; the tables are the same.
Exit code 1 if a published direction does not come out where it is counted as published.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

# The study's section 6.1, and what only its program says (github.com/maxvonbuelow/rtmemtracer, trace.cu and bvh.cc): sets
# of more than 32 faces are always split, others never; 64 threads of 58 registers a block, so 32 warps of an SM.
LEAF = 32
BASE = {
    "machine": "rtx2080-ti", "sms": "68", "resident-warps": "32",
    "l1": "32KiB:line=128,ways=64,sector=32", "l2": "6MiB:line=32,ways=16,sector=32",
    "layout": "binary", "node-order": "depth-first", "vertex-order": "breadth-first",
    "builder": f"medium:leaf_size={LEAF},min_leaf_size={LEAF}",
    "warp-traversal": "while-while", "schedule": "scanline",
    # Its tracer has neither, and its counting leaves the frame buffer out.
    "payload-bytes": "0", "record-bytes": "0", "pixel-bytes": "0",
}
QUICK = {"sms": "4", "l2": "384KiB:line=32,ways=16,sector=32"}
LARGE = "larger frame"
CHANGES = [
    ("base", {}),
    ("median split", {"builder": f"median:leaf_size={LEAF}"}),
    ("random vertices", {"vertex-order": "random"}),
    (LARGE, {}),
    ("scanline per SM", {"schedule": "scanline-per-sm"}),
    ("if-if", {"warp-traversal": "if-if"}),
]
EXACT = ["--l1-model", "lru:write=through,allocate=false", "--l2-model", "lru"]
SDCM = ["--l1-model", "sdcm", "--l2-model", "sdcm"]
VIEWS = {
    "as published": ["--per-lane", *SDCM, "--l2-feed", "all"],
    "coalesced": [*SDCM, "--l2-feed", "all"],
    "exact LRU, sectors": [*EXACT, "--l2-feed", "all"],
    "L2 fed by L1 misses": [*EXACT, "--l2-feed", "misses"],
}
PUBLISHED, GPU = "as published", "L2 fed by L1 misses"

# Kinds of data. A face is its index triple and three vertices, as in the study.
BOXES, FACES, ALL = ("node",), ("index", "vertex"), ("all",)
NAMES = {BOXES: "boxes", FACES: "faces", ALL: "all"}

# What the study says (section 6.2 and its figure 6; of hit rates it prints none): change, level, data, sign of the
# difference to base. Where it says "slightly" or "approximately" no figure is given with it.
CLAIMS = [
    ("random vertices", "L1", FACES, -1, "lower"),
    ("random vertices", "L2", FACES, -1, "lower"),
    (LARGE, "L1", FACES, +1, "higher"),
    (LARGE, "L2", FACES, +1, "higher, almost 100 %"),
    ("scanline per SM", "L1", ALL, +1, "slightly higher"),
    ("scanline per SM", "L1", FACES, +1, "slightly higher"),
    ("scanline per SM", "L2", ALL, -1, "slightly lower"),
    ("scanline per SM", "L2", FACES, -1, "slightly lower"),
    ("if-if", "L1", BOXES, -1, "lower"),
    ("if-if", "L1", FACES, -1, "lower"),
]


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stderr}")
    return done.stdout


class Result:
    def __init__(self, document):
        self.rows = {(row["level"], row["kind"]): row for row in document["rows"]}
        self.rays = document["summary"]["rays"]
        self.dram = document["summary"]["dram_read_bytes"]

    def accesses(self, level, kinds):
        return sum(self.rows[level, kind]["accesses"] for kind in kinds)

    def misses(self, level, kinds):
        return sum(self.rows[level, kind]["misses"] for kind in kinds)

    def rate(self, level, kinds):
        """Per cent."""
        return 100 * (1 - self.misses(level, kinds) / self.accesses(level, kinds))


class Study:
    def __init__(self, program, folder, scene, sizes):
        self.program = program
        self.scene = scene
        self.traces = [self.trace(folder, size) for size in sizes]
        self.sizes = sizes
        self.results = {}

    def trace(self, folder, size):
        path = folder / f"{self.scene.replace(':', '-').replace('=', '-').replace(',', '-')}-{size}.rrt"
        if not path.exists():
            run(self.program, "trace", "--scene", self.scene, "--integrator", "primary", "--spp", "1",
                "--size", f"{size}x{size}", "-o", path)
        return path

    def result(self, view, name, override=None):
        """`override` replaces parts of the base configuration; the change wins over it."""
        key = (view, name, str(override))
        if key not in self.results:  # asked for twice at a time, it is computed twice
            options = {**BASE, **(override or {}), **dict(CHANGES)[name]}
            words = [word for option, value in options.items() for word in (f"--{option}", value)]
            output = run(self.program, "cache", self.traces[name == LARGE], *words, *VIEWS[view], "--no-distances",
                         "--format", "json")
            self.results[key] = Result(json.loads(output))
        return self.results[key]

    def names(self):
        return [name for name, _ in CHANGES if name != LARGE or len(self.sizes) > 1]

    def difference(self, view, name, level, kinds, override=None):
        """Points."""
        return (self.result(view, name, override).rate(level, kinds)
                - self.result(view, "base", override).rate(level, kinds))

    def label(self, name):
        return f"{self.sizes[1]}² for {self.sizes[0]}²" if name == LARGE else name


def compute(jobs, wanted):
    """Results that will be asked for, `jobs` at a time. wanted: (study, view, name, override)."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(study.result, *key) for study, *key in wanted]:
            future.result()


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*cells):
    print()
    row(*cells)
    row(*["---"] * len(cells))


def rates(study, view, override=None, names=None):
    head("configuration", *(f"{level} {NAMES[kinds]}" for level in ("L1", "L2") for kinds in (BOXES, FACES, ALL)),
         "accesses a ray", "L1 misses a ray", "DRAM bytes a ray")
    for name in names or study.names():
        result = study.result(view, name, override)
        row(study.label(name), *(f"{result.rate(level, kinds):.2f} %" for level in ("L1", "L2")
                                 for kinds in (BOXES, FACES, ALL)),
            f"{result.accesses('L1', ALL) / result.rays:.1f}", f"{result.misses('L1', ALL) / result.rays:.2f}",
            f"{result.dram / result.rays:.1f}")


def directions(study):
    """Claims as published, and what is left of them on the way to a GPU. Returns whether all hold as published."""
    held = True
    head("change", "rate", "published", *VIEWS, "holds as published", "on a GPU")
    for name, level, kinds, sign, text in CLAIMS:
        if name not in study.names():
            continue
        points = {view: study.difference(view, name, level, kinds) for view in VIEWS}
        held = held and points[PUBLISHED] * sign > 0
        row(study.label(name), f"{level} {NAMES[kinds]}", text, *(f"{value:+.3f}" for value in points.values()),
            *("yes" if points[view] * sign > 0 else "no" for view in (PUBLISHED, GPU)))
    for level in ("L1", "L2"):
        points = {view: study.result(view, "base").rate(level, BOXES) - study.result(view, "base").rate(level, FACES)
                  for view in VIEWS}
        held = held and points[PUBLISHED] > 0
        row("boxes against faces (base)", level, "boxes higher", *(f"{value:+.3f}" for value in points.values()),
            *("yes" if points[view] > 0 else "no" for view in (PUBLISHED, GPU)))
    for level in ("L1", "L2"):
        points = {view: study.difference(view, "median split", level, FACES) for view in VIEWS}
        row("median split", f"{level} faces", "about the same", *(f"{value:+.3f}" for value in points.values()), "", "")
    for kinds in (BOXES, FACES):
        grown = [study.result(view, "if-if").misses("L1", kinds) / study.result(view, "base").misses("L1", kinds)
                 for view in VIEWS]
        row("if-if", f"L1 {NAMES[kinds]}, misses", "worse, boxes most", *(f"× {value:.2f}" for value in grown), "", "")
    return held


OWN = {"builder": "medium"}
DENSITY_COLUMNS = [(view, leaves, override) for view, text in ((PUBLISHED, "published"), (GPU, "GPU"))
                   for leaves, override in ((f"{text}, {LEAF} a leaf", None), (f"{text}, own leaves", OWN))]


def densities(studies):
    """Boxes against faces by how many faces there are for each ray, with both kinds of leaves."""
    head("mesh", "faces a ray", *(f"{leaves}: boxes, faces" for _, leaves, _ in DENSITY_COLUMNS))
    for level, study in studies.items():
        cells = []
        for view, _, override in DENSITY_COLUMNS:
            base = study.result(view, "base", override)
            cells.append(f"{base.rate('L1', BOXES):.1f}, {base.rate('L1', FACES):.1f} %")
        row(study.scene, f"{8 * 4**level / study.result(PUBLISHED, 'base').rays:g}", *cells)


def of_l1(size):
    return {**OWN, "l1": f"{size}KiB:line=128,ways=64,sector=32"}


def l1_sizes(study, sizes):
    """What if-if does to the L1's hit rates by the size of the L1, with the builder's own leaves."""
    head("L1 of an SM", *(f"{text}: {name}" for text in ("published", "GPU")
                          for name in ("boxes, faces", "all", "if-if's change of boxes, faces", "of all")))
    for size in sizes:
        override = of_l1(size)
        cells = []
        for view in (PUBLISHED, GPU):
            base = study.result(view, "base", override)
            cells += [f"{base.rate('L1', BOXES):.1f}, {base.rate('L1', FACES):.1f} %", f"{base.rate('L1', ALL):.1f} %"]
            change = [study.difference(view, "if-if", "L1", kinds, override) for kinds in (BOXES, FACES, ALL)]
            cells += [f"{change[0]:+.1f}, {change[1]:+.1f}", f"{change[2]:+.1f}"]
        row(f"{size} KiB", *cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small meshes and frames")
    parser.add_argument("--work", type=pathlib.Path, help="folder that keeps the traces")
    parser.add_argument("--jobs", type=int, default=1, help="simulations at a time [1]")
    parser.add_argument("program", nargs="?", default="build/release/rayreplay", help="[build/release/rayreplay]")
    given = parser.parse_args()
    if given.quick:
        BASE.update(QUICK)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.work or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        scan = Study(given.program, folder, f"statue:level={7 if given.quick else 8}",
                     (128, 512) if given.quick else (512, 2048))
        leaf_names = [name for name in scan.names() if name not in (LARGE, "median split")]
        sizes = (32, 128) if given.quick else (16, 32, 64, 128, 256)
        meshes = {level: Study(given.program, folder, f"statue:level={level}", scan.sizes[:1])
                  for level in ((5, 6, 7, 8) if given.quick else (6, 7, 8, 9, 10))}
        made = Study(given.program, folder, "hall", (128,) if given.quick else (512,))
        dense = None if given.quick else meshes[10]
        compute(given.jobs, [
            *((scan, view, LARGE, None) for view in VIEWS),  # the longest first
            *((dense, PUBLISHED, name, None) for name in (dense.names() if dense else ())),
            *((scan, view, name, None) for view in VIEWS for name in scan.names()),
            *((scan, PUBLISHED, name, OWN) for name in leaf_names),
            *((scan, view, name, of_l1(size)) for size in sizes for view in (PUBLISHED, GPU)
              for name in ("base", "if-if")),
            *((study, view, "base", override) for study in meshes.values() for view, _, override in DENSITY_COLUMNS),
            *((made, PUBLISHED, name, None) for name in ("base", "median split")),
        ])
        print(f"### {scan.scene}, counted as published")
        rates(scan, PUBLISHED)
        print(f"\n### {scan.scene}, as a GPU has it: coalesced, exact LRU with sectors, L2 fed by the L1s' misses")
        rates(scan, GPU)
        print("\n### Directions: points of hit rate, one step after the other")
        held = directions(scan)
        print("\n### The same with the builder's own leaves, counted as published")
        rates(scan, PUBLISHED, OWN, leaf_names)
        print("\n### if-if by the size of the L1")
        l1_sizes(scan, sizes)
        print("\n### Boxes and faces in the L1 by density of the mesh")
        densities(meshes)
        if dense:
            print(f"\n### {dense.scene}: a mesh of the published one's size, counted as published")
            rates(dense, PUBLISHED)
        print(f"\n### {made.scene}: made by hand, not scanned, counted as published")
        rates(made, PUBLISHED, names=["base", "median split"])
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
