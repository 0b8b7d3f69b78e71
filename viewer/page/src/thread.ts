// The chosen thread: its rays with their events, as a list; a ray can be chosen, and is drawn in the scene.
import { json } from "./data";
import { byId, element, showError } from "./dom";
import type { EventFacts, ThreadFacts, TraceFacts } from "./facts";
import type { Store } from "./state";

export class Thread {
  private readonly box = byId("thread");
  private version = 0;
  facts: ThreadFacts | null = null;

  constructor(
    private readonly store: Store,
    private readonly trace: TraceFacts,
    private readonly shown: (facts: ThreadFacts | null) => void,
  ) {
    store.listen((_, changed) => {
      if (changed.has("thread") || changed.has("launch")) {
        void this.load();
      } else if (changed.has("ray")) {
        this.render();
      }
    });
  }

  async load(): Promise<void> {
    const version = ++this.version;
    const { thread, launch } = this.store.view;
    if (thread === null) {
      this.facts = null;
      this.box.replaceChildren(element("p", { class: "empty" }, "Click a pixel: its rays and events appear here."));
      this.shown(null);
      return;
    }
    try {
      const facts = await json<ThreadFacts>(`launch/${launch}/thread/${thread}`);
      if (version === this.version) {
        this.facts = facts;
        this.render();
        this.shown(facts);
      }
    } catch (error) {
      if (version === this.version) {
        this.facts = null;
        showError(this.box, error);
        this.shown(null);
      }
    }
  }

  private said(event: EventFacts): string {
    const name = this.trace.shaders[event.shader]?.name ?? "";
    const what = `${this.trace.kinds[event.kind] ?? "?"} ${event.shader}${name === "" ? "" : ` ${name}`}`;
    return event.t === undefined
      ? what
      : `${what}: t ${event.t.toPrecision(5)}, instance ${event.instance ?? 0}, primitive ${event.primitive ?? 0}`;
  }

  private render(): void {
    const facts = this.facts;
    if (!facts) {
      return;
    }
    const body = element("tbody");
    facts.rays.forEach((ray, index) => {
      const row = element("tr", {
        class: `pick${this.store.view.ray === index ? " chosen" : ""}`,
        tabindex: "0",
      });
      const events = facts.events.filter((event) => event.ray === index && event.kind > 1);
      row.append(
        element("td", { class: "number" }, String(index)),
        element("td", {}, ray.direction.map((part) => part.toFixed(3)).join(", ")),
        element("td", {}, events.map((event) => this.said(event)).join("; ") || "no shader was called"),
      );
      const choose = (): void => this.store.set({ ray: this.store.view.ray === index ? null : index });
      row.addEventListener("click", choose);
      row.addEventListener("keydown", (event) => event.key === "Enter" && choose());
      body.append(row);
    });
    const left = facts.ray_count - facts.rays.length;
    this.box.replaceChildren(
      element("p", { class: "readout" }, `thread ${facts.thread}, pixel ${facts.pixel[0]}, ${facts.pixel[1]}: ${facts.ray_count} rays, ${facts.event_count} events`),
      element(
        "table",
        {},
        element("thead", {}, element("tr", {}, element("th", { class: "number" }, "ray"), element("th", {}, "direction"), element("th", {}, "shaders called"))),
        body,
      ),
      ...(left > 0 ? [element("p", { class: "empty" }, `${left} more rays are not listed.`)] : []),
    );
  }
}
