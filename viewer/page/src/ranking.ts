// Ranking: the warps and calls that lose the most lane slots, and the pixels with the most shader calls. A row of a
// warp or pixel selects its thread.
import { json } from "./data";
import { byId, element, fill, percent, showError } from "./dom";
import type { LaunchFacts, RankingFacts } from "./facts";
import type { Store } from "./state";

export class Ranking {
  private readonly box = byId("ranking");
  private readonly select = element("select", { id: "ranking-of", "aria-label": "Ranked" });
  private of = "warps";
  private facts: RankingFacts | null = null;
  private version = 0;

  constructor(
    private readonly store: Store,
    private readonly callName: (kind: number, shader: number) => string,
    private readonly launchOf: () => LaunchFacts,
  ) {
    fill(
      this.select,
      [
        { name: "warps", title: "warps by idle lanes" },
        { name: "calls", title: "shaders by idle lanes" },
        { name: "pixels", title: "pixels by shader calls" },
      ],
      this.of,
    );
    this.select.addEventListener("change", () => {
      this.of = this.select.value;
      this.render();
    });
    store.listen((_, changed) => {
      if (changed.has("launch") || changed.has("settingsA")) {
        void this.load();
      }
    });
  }

  async load(): Promise<void> {
    const version = ++this.version;
    const { launch, settingsA } = this.store.view;
    try {
      const facts = await json<RankingFacts>(`launch/${launch}/ranking`, settingsA);
      if (version === this.version) {
        this.facts = facts;
        this.render();
      }
    } catch (error) {
      if (version === this.version) {
        showError(this.box, error);
      }
    }
  }

  private pixel(thread: number): string {
    const { width, height } = this.launchOf();
    return `${thread % width}, ${Math.floor(thread / width) % height}`;
  }

  private render(): void {
    const { facts } = this;
    if (!facts) {
      return;
    }
    const [head, rows]: [string[], { cells: string[]; thread: number | null }[]] =
      this.of === "warps"
        ? [
            ["warp", "warp events", "SIMT efficiency", "idle lanes", "share"],
            facts.warps.map((one) => ({
              cells: [String(one.warp), one.warp_events.toLocaleString("en-US"), percent(one.efficiency), one.idle_lanes.toLocaleString("en-US"), percent(one.share)],
              thread: one.thread,
            })),
          ]
        : this.of === "calls"
          ? [
              ["call", "warp events", "SIMT efficiency", "idle lanes", "share"],
              facts.calls.map((one) => ({
                cells: [this.callName(one.kind, one.shader), one.warp_events.toLocaleString("en-US"), percent(one.efficiency), one.idle_lanes.toLocaleString("en-US"), percent(one.share)],
                thread: null,
              })),
            ]
          : [
              ["pixel", "shader calls", "share"],
              facts.pixels.map((one) => ({ cells: [this.pixel(one.thread), one.calls.toLocaleString("en-US"), percent(one.share)], thread: one.thread })),
            ];
    const body = element("tbody");
    for (const { cells, thread } of rows) {
      const row = element("tr", thread === null ? {} : { class: "pick", tabindex: "0", title: "Show it" });
      row.append(...cells.map((text, i) => element("td", i === 0 ? {} : { class: "number" }, text)));
      if (thread !== null) {
        const jump = (): void => this.store.set({ thread, ray: null });
        row.addEventListener("click", jump);
        row.addEventListener("keydown", (event) => event.key === "Enter" && jump());
      }
      body.append(row);
    }
    const worst = facts.calls[0];
    const said = worst
      ? `${percent(1 - facts.efficiency)} of lane slots idle; ${percent(worst.share)} of them in ${this.callName(worst.kind, worst.shader)}.`
      : "The launch has no warp events.";
    this.box.replaceChildren(
      element("p", { class: "readout", id: "ranking-said" }, said),
      element("div", { class: "bar" }, this.select),
      element("table", {}, element("thead", {}, element("tr", {}, ...head.map((text, i) => element("th", i === 0 ? {} : { class: "number" }, text)))), body),
    );
  }
}
