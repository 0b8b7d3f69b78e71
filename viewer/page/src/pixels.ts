// Maps over the launch's pixels: two panels with one zoom, one cursor and, where they show one map, one scale.
import { colorOf, css, drawLegend, nothing, short, type Scale } from "./colors";
import { slice } from "./data";
import { byId, element, fill, fit, showError } from "./dom";
import type { Choice, LaunchFacts } from "./facts";
import type { Settings, Store, View } from "./state";

const kDifference = "difference";

interface MapData {
  width: number;
  height: number;
  values: Float32Array;
  scale: Scale;
  title: string;
}

/** Place of the map in a panel: screen = middle of the panel + offset + scale · pixel. Shared by both panels. */
interface Placement {
  scale: number;
  x: number;
  y: number;
}

class Panel {
  readonly select = element("select", { "aria-label": "Map" });
  readonly box = element("div", { class: "canvas-box" });
  readonly canvas = element("canvas", { tabindex: "0", role: "img" });
  readonly legend = element("div", { class: "legend" });
  readonly readout = element("p", { class: "readout", "aria-live": "off" });
  readonly said = element("span", { class: "empty" });
  data: MapData | null = null;
  private picture: HTMLCanvasElement | null = null;

  constructor(figure: HTMLElement, name: string) {
    this.select.id = `map-${name}`;
    this.canvas.id = `canvas-${name}`;
    this.readout.id = `readout-${name}`;
    this.box.append(this.canvas);
    figure.append(element("div", { class: "bar" }, this.select, this.said), this.box, this.legend, this.readout);
  }

  describe(text: string): void {
    this.said.textContent = text;
    this.said.title = text;
  }

  show(data: MapData): void {
    this.data = data;
    const picture = document.createElement("canvas");
    picture.width = data.width;
    picture.height = data.height;
    const context = picture.getContext("2d");
    if (context) {
      const image = context.createImageData(data.width, data.height);
      for (let i = 0; i < data.values.length; ++i) {
        const color = colorOf(data.values[i] as number, data.scale);
        image.data[4 * i] = color[0];
        image.data[4 * i + 1] = color[1];
        image.data[4 * i + 2] = color[2];
        image.data[4 * i + 3] = 255;
      }
      context.putImageData(image, 0, 0);
    }
    this.picture = picture;
    this.canvas.setAttribute("aria-label", `${data.title}, ${data.width} by ${data.height} pixels`);
    drawLegend(this.legend, data.scale, data.title);
  }

  fail(error: unknown): void {
    this.data = null;
    this.picture = null;
    showError(this.legend, error);
  }

  draw(place: Placement, chosen: { x: number; y: number } | null): void {
    fit(this.canvas, this.box);
    const context = this.canvas.getContext("2d");
    if (!context) {
      return;
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.picture) {
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    context.imageSmoothingEnabled = place.scale < 1;
    const x = this.box.clientWidth / 2 + place.x;
    const y = this.box.clientHeight / 2 + place.y;
    context.setTransform(place.scale * ratio, 0, 0, place.scale * ratio, x * ratio, y * ratio);
    context.drawImage(this.picture, 0, 0);
    if (chosen) {
      // Outside of the pixel, in points of the screen.
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.lineWidth = 2;
      context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark") || css(nothing);
      const side = Math.max(place.scale + 3, 9);
      context.strokeRect(x + place.scale * (chosen.x + 0.5) - side / 2, y + place.scale * (chosen.y + 0.5) - side / 2, side, side);
    }
  }
}

export class Pixels {
  private readonly a = new Panel(byId("panel-a"), "a");
  private readonly b = new Panel(byId("panel-b"), "b");
  private place: Placement = { scale: 1, x: 0, y: 0 };
  private fitted = false;
  private version = 0;

  constructor(
    private readonly store: Store,
    private readonly launchOf: () => LaunchFacts,
    private readonly start: Settings,
  ) {
    this.a.select.addEventListener("change", () => store.set({ mapA: this.a.select.value }));
    this.b.select.addEventListener("change", () => store.set({ mapB: this.b.select.value }));
    for (const panel of [this.a, this.b]) {
      this.listenTo(panel);
    }
    const observer = new ResizeObserver(() => this.draw());
    observer.observe(this.a.box);
    observer.observe(this.b.box);
    store.listen((view, changed) => {
      if (["launch", "mapA", "mapB", "settingsA", "settingsB", "colormap"].some((name) => changed.has(name as keyof View))) {
        this.fitted = this.fitted && !changed.has("launch");
        void this.load();
      } else if (changed.has("thread") || changed.has("theme")) {
        this.draw();
      }
      if (changed.has("thread")) {
        this.say(view.thread === null ? null : this.pixelOf(view.thread));
      }
    });
  }

  private pixelOf(thread: number): { x: number; y: number } {
    const { width, height } = this.launchOf();
    return { x: thread % width, y: Math.floor(thread / width) % height };
  }

  private chosen(): { x: number; y: number } | null {
    const { thread } = this.store.view;
    return thread === null || thread >= this.launchOf().threads ? null : this.pixelOf(thread);
  }

  async load(): Promise<void> {
    const version = ++this.version;
    const { view } = this.store;
    const { maps } = this.launchOf();
    const named = (name: string): Choice => maps.find((one) => one.name === name) ?? (maps[0] as Choice);
    const first = named(view.mapA);
    const options = maps.map((one) => ({ name: one.name, title: one.title, text: one.text }));
    fill(this.a.select, options, first.name);
    fill(this.b.select, [...options, { name: kDifference, title: "difference of the left map", text: "The left map with the right settings, less the left map." }], view.mapB);
    this.a.describe(describe(first, { ...this.start, ...view.settingsA }));
    const second = view.mapB === kDifference ? first : named(view.mapB);
    this.b.describe(describe(second, { ...this.start, ...view.settingsB }));
    const [one, two] = await Promise.allSettled([
      this.fetch(first, view.settingsA),
      view.mapB === kDifference ? this.difference(first) : this.fetch(second, view.settingsB),
    ]);
    if (version !== this.version) {
      return;
    }
    // One scale for one map, so that colours of both panels can be compared.
    if (one.status === "fulfilled" && two.status === "fulfilled" && view.mapB !== kDifference && first.name === second.name) {
      const least = Math.min(one.value.scale.least, two.value.scale.least);
      const most = Math.max(one.value.scale.most, two.value.scale.most);
      Object.assign(one.value.scale, { least, most });
      Object.assign(two.value.scale, { least, most });
    }
    one.status === "fulfilled" ? this.a.show(one.value) : this.a.fail(one.reason);
    two.status === "fulfilled" ? this.b.show(two.value) : this.b.fail(two.reason);
    if (!this.fitted) {
      this.fitAll();
    }
    this.draw();
    this.say(this.chosen());
  }

  private async fetch(choice: Choice, settings: Settings): Promise<MapData> {
    const parameters = { map: choice.name, ...(choice.of_settings ? settings : {}) };
    const { facts, columns } = await slice(`launch/${this.store.view.launch}/pixels`, parameters);
    return {
      width: facts["width"] as number,
      height: facts["height"] as number,
      values: columns.get("values") as Float32Array,
      title: choice.title,
      scale: {
        map: this.store.view.colormap,
        least: (facts["least"] as number | null) ?? 0,
        most: (facts["most"] as number | null) ?? 0,
        nominal: choice.nominal,
      },
    };
  }

  private async difference(choice: Choice): Promise<MapData> {
    const { settingsA, settingsB } = this.store.view;
    const [one, two] = await Promise.all([this.fetch(choice, settingsA), this.fetch(choice, settingsB)]);
    const values = two.values.map((value, i) => value - (one.values[i] as number));
    let most = 0;
    for (const value of values) {
      most = Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most;
    }
    return { ...two, values, title: `change of ${choice.title}`, scale: { map: "blue-red", least: -most, most, nominal: false } };
  }

  fitAll(): void {
    const data = this.a.data ?? this.b.data;
    const { clientWidth, clientHeight } = this.a.box;
    if (!data || clientWidth === 0) {
      return;
    }
    const scale = Math.min(clientWidth / data.width, clientHeight / data.height);
    this.place = { scale, x: (-scale * data.width) / 2, y: (-scale * data.height) / 2 };
    this.fitted = true;
    this.draw();
  }

  draw(): void {
    for (const panel of [this.a, this.b]) {
      panel.draw(this.place, this.chosen());
    }
  }

  private at(panel: Panel, event: MouseEvent): { x: number; y: number } | null {
    const data = panel.data;
    const box = panel.canvas.getBoundingClientRect();
    const x = Math.floor((event.clientX - box.left - box.width / 2 - this.place.x) / this.place.scale);
    const y = Math.floor((event.clientY - box.top - box.height / 2 - this.place.y) / this.place.scale);
    return data && x >= 0 && y >= 0 && x < data.width && y < data.height ? { x, y } : null;
  }

  private say(pixel: { x: number; y: number } | null): void {
    for (const { data, readout } of [this.a, this.b]) {
      readout.textContent =
        pixel && data ? `pixel ${pixel.x}, ${pixel.y}: ${short(data.values[pixel.y * data.width + pixel.x] as number)} ${data.title}` : "";
    }
  }

  private choose(pixel: { x: number; y: number }): void {
    this.store.set({ thread: pixel.y * this.launchOf().width + pixel.x, ray: null });
  }

  private listenTo(panel: Panel): void {
    const { canvas } = panel;
    let from: { x: number; y: number; moved: boolean } | null = null;
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.clientX, y: event.clientY, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      this.say(this.at(panel, event) ?? this.chosen());
      if (from && (from.moved || Math.hypot(event.clientX - from.x, event.clientY - from.y) > 3)) {
        this.place = { ...this.place, x: this.place.x + event.clientX - from.x, y: this.place.y + event.clientY - from.y };
        from = { x: event.clientX, y: event.clientY, moved: true };
        this.draw();
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      const pixel = this.at(panel, event);
      if (from && !from.moved && pixel) {
        this.choose(pixel);
      }
      from = null;
    });
    canvas.addEventListener("pointerleave", () => this.say(this.chosen()));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const box = canvas.getBoundingClientRect();
        const factor = Math.exp(-event.deltaY * 0.0015);
        const scale = Math.min(256, Math.max(0.02, this.place.scale * factor));
        const grown = scale / this.place.scale;
        const x = event.clientX - box.left - box.width / 2;
        const y = event.clientY - box.top - box.height / 2;
        this.place = { scale, x: x - (x - this.place.x) * grown, y: y - (y - this.place.y) * grown };
        this.draw();
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (step) {
        event.preventDefault();
        const { width, height } = this.launchOf();
        const now = this.chosen() ?? { x: 0, y: 0 };
        this.choose({
          x: Math.min(width - 1, Math.max(0, now.x + (step[0] as number))),
          y: Math.min(height - 1, Math.max(0, now.y + (step[1] as number))),
        });
      }
    });
  }
}

function describe(choice: Choice, settings: Settings): string {
  if (!choice.of_settings) {
    return "";
  }
  const words = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  return words.join(", ");
}
