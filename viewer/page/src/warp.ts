// The chosen thread's warp: a matrix of lanes by warp events, with a cell in the shader's colour for each active lane.
import { categoryColor, css } from "./colors";
import { json } from "./data";
import { byId, element, fill, showError } from "./dom";
import type { CapturedFacts, LaunchFacts, TraceFacts, WarpFacts } from "./facts";
import type { Settings, Store } from "./state";

const kCell = 12;
const kMargin = 34;
const kMostColumns = 2000;

export const isActive = (event: WarpFacts["events"][number], lane: number): boolean =>
  ((lane < 32 ? event[2] >>> lane : event[3] >>> (lane - 32)) & 1) === 1;

export const activeLanes = (event: WarpFacts["events"][number]): number => {
  let count = 0;
  for (let lane = 0; lane < 64; ++lane) {
    count += isActive(event, lane) ? 1 : 0;
  }
  return count;
};

export class Warp {
  private readonly bar = byId("warp-bar");
  private readonly box = byId("warp-view");
  private readonly select = element("select", { id: "warp-kind", "aria-label": "Whose warp" });
  /** Colours by call, the same in every warp. */
  private readonly colors = new Map<string, number>();
  private version = 0;

  constructor(
    private readonly store: Store,
    private readonly trace: TraceFacts,
    private readonly launchOf: () => LaunchFacts,
  ) {
    this.select.addEventListener("change", () => store.set({ warp: this.select.value }));
    store.listen((_, changed) => {
      if (changed.has("thread") || changed.has("warp") || changed.has("settingsA") || changed.has("launch") || changed.has("theme")) {
        void this.load();
      }
    });
  }

  callName(kind: number, shader: number): string {
    const name = this.trace.shaders[shader]?.name ?? "";
    return `${this.trace.kinds[kind] ?? "?"} ${shader}${name === "" ? "" : ` ${name}`}`;
  }

  async load(): Promise<void> {
    const version = ++this.version;
    const { thread, launch, settingsA } = this.store.view;
    if (thread === null) {
      this.bar.replaceChildren();
      this.box.replaceChildren(element("p", { class: "empty" }, "Click a pixel: its warp appears here, a row for each lane and a column for each warp event."));
      return;
    }
    const captured = this.launchOf().has_groups && this.store.view.warp === "captured";
    try {
      const parameters: Settings = { thread: String(thread), ...(captured ? {} : settingsA) };
      const facts = await json<WarpFacts | CapturedFacts>(`launch/${launch}/${captured ? "captured" : "warp"}`, parameters);
      if (version === this.version) {
        this.show(facts);
      }
    } catch (error) {
      if (version === this.version) {
        this.bar.replaceChildren();
        showError(this.box, error);
      }
    }
  }

  private show(facts: WarpFacts | CapturedFacts): void {
    const efficiency = facts.efficiency === null ? "no events" : `${(facts.efficiency * 100).toFixed(1)} % of lanes active`;
    const kinds = ["modelled", ...(this.launchOf().has_groups ? ["captured"] : [])];
    fill(this.select, kinds.map((name) => ({ name, title: name })), this.store.view.warp);
    const [said, how] =
      "packing" in facts
        ? [`warp ${facts.warp}, starts as ${facts.start}`, `${facts.packing}, ${facts.order}, ${facts.policy}`]
        : [
            `warp ${facts.warp} of the hardware${facts.sm === null ? "" : `, SM ${facts.sm}`}`,
            facts.repacked === 0 ? "no event ran in another warp" : `${facts.repacked} events of its threads ran in groups of several warps, which are not here`,
          ];
    this.bar.replaceChildren(
      ...(kinds.length > 1 ? [this.select] : []),
      element("span", { id: "warp-facts" }, `${said}: ${facts.event_count} warp events, ${efficiency}`),
      element("span", { class: "empty" }, how),
    );
    const columns = Math.min(facts.events.length, kMostColumns);
    const canvas = element("canvas", {
      role: "img",
      "aria-label": `Warp ${facts.warp}: ${facts.warp_size} lanes, ${facts.event_count} warp events, ${efficiency}`,
    });
    canvas.width = kMargin + columns * kCell + 1;
    canvas.height = facts.warp_size * kCell + 1;
    const readout = element("p", { class: "readout", id: "warp-readout" });
    const calls = new Map<string, number>();
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    if (context) {
      context.font = "9px sans-serif";
      context.fillStyle = style.getPropertyValue("--quiet");
      for (let lane = 0; lane < facts.warp_size; lane += 4) {
        context.fillText(String(lane), 8, lane * kCell + 10);
      }
      facts.events.slice(0, columns).forEach((event, column) => {
        const name = this.callName(event[0], event[1]);
        if (!this.colors.has(name)) {
          this.colors.set(name, this.colors.size);
        }
        calls.set(name, this.colors.get(name) as number);
        context.fillStyle = css(categoryColor(calls.get(name) as number));
        for (let lane = 0; lane < facts.warp_size; ++lane) {
          if (isActive(event, lane)) {
            context.fillRect(kMargin + column * kCell, lane * kCell, kCell - 1, kCell - 1);
          }
        }
      });
      const own = facts.lanes.findIndex((lane) => lane?.thread === facts.thread);
      context.strokeStyle = style.getPropertyValue("--mark");
      context.lineWidth = 1.5;
      context.strokeRect(kMargin - 1, own * kCell - 1, columns * kCell + 1, kCell + 1);
    }
    const at = (event: MouseEvent): { lane: number; column: number } => {
      const box = canvas.getBoundingClientRect();
      return {
        column: Math.floor((event.clientX - box.left - kMargin) / kCell),
        lane: Math.floor((event.clientY - box.top) / kCell),
      };
    };
    canvas.addEventListener("pointermove", (event) => {
      const { lane, column } = at(event);
      const one = facts.events[column];
      const there = facts.lanes[lane];
      readout.textContent =
        (there ? `lane ${lane}, pixel ${there.pixel[0]}, ${there.pixel[1]}` : `lane ${lane}, no thread`) +
        (one ? `; warp event ${column}: ${this.callName(one[0], one[1])}, ${activeLanes(one)} of ${facts.warp_size} lanes${isActive(one, lane) ? "" : ", this one idle"}` : "");
    });
    canvas.addEventListener("click", (event) => {
      const there = facts.lanes[at(event).lane];
      if (there) {
        this.store.set({ thread: there.thread, ray: null });
      }
    });
    const key = element("div", { class: "key" });
    for (const [name, index] of calls) {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = css(categoryColor(index));
      key.append(element("span", {}, swatch, name));
    }
    const more = facts.event_count > columns ? [element("p", { class: "empty" }, `The first ${columns} of ${facts.event_count} warp events.`)] : [];
    this.box.replaceChildren(key, element("div", { class: "scroll" }, canvas), readout, ...more);
  }
}
