// The scene in 3D: faces and boxes in the colours of a metric, without light; the chosen thread's rays; the camera.
import * as three from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { colorOf, drawLegend, nothing, short, type Color, type Scale } from "./colors";
import { json, slice } from "./data";
import { byId, element, fill, showError } from "./dom";
import type { CameraFacts, Choice, RayFacts, ThreadFacts, TraceFacts } from "./facts";
import type { Store } from "./state";

const kTrianglesOfBox = 12;
/** Corners of a box's faces: bits 1, 2, 4 choose the upper end in x, y, z. */
const kBoxCorners = [0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5];

/** Corners of all triangles, in turn. */
function expand(vertices: Float32Array, indices: Uint32Array): Float32Array {
  const corners = new Float32Array(indices.length * 3);
  indices.forEach((vertex, i) => {
    corners.set(vertices.subarray(3 * vertex, 3 * vertex + 3), 3 * i);
  });
  return corners;
}

function expandBoxes(boxes: Float32Array): Float32Array {
  const corners = new Float32Array((boxes.length / 6) * kBoxCorners.length * 3);
  let at = 0;
  for (let box = 0; box < boxes.length; box += 6) {
    for (const corner of kBoxCorners) {
      for (let axis = 0; axis < 3; ++axis) {
        corners[at++] = boxes[box + axis + ((corner >> axis) & 1 ? 3 : 0)] as number;
      }
    }
  }
  return corners;
}

/** Geometries of more primitives are drawn without the edges of their faces. */
const kMostOutlined = 200_000;
/** Edges of a box: corners that differ in one bit. */
const kBoxEdges = [0, 1, 1, 3, 3, 2, 2, 0, 4, 5, 5, 7, 7, 6, 6, 4, 0, 4, 1, 5, 2, 6, 3, 7];

function outlines(corners: Float32Array, boxes: boolean): three.BufferGeometry {
  const geometry = new three.BufferGeometry();
  const per = boxes ? kBoxCorners.length : 3;
  const ends = boxes ? kBoxEdges.map((corner) => kBoxCorners.indexOf(corner)) : [0, 1, 1, 2, 2, 0];
  const primitives = corners.length / 3 / per;
  const index = new Uint32Array(primitives * ends.length);
  for (let primitive = 0; primitive < primitives; ++primitive) {
    ends.forEach((end, i) => (index[primitive * ends.length + i] = primitive * per + end));
  }
  geometry.setAttribute("position", new three.BufferAttribute(corners, 3));
  geometry.setIndex(new three.BufferAttribute(index, 1));
  return geometry;
}

interface Part {
  mesh: three.Mesh<three.BufferGeometry, three.MeshBasicMaterial>;
  instance: number;
  geometry: number;
  /** In the structure. */
  place: number;
  primitives: number;
  /** Row of the first primitive within the instance's rows. */
  first: number;
  isBoxes: boolean;
}

export class Scene {
  private readonly box = byId("scene-view");
  private readonly readout = byId("scene-readout");
  private readonly select = element("select", { "aria-label": "Metric of faces", id: "metric" });
  private readonly legend = element("span", { class: "legend" });
  private readonly scene = new three.Scene();
  private readonly camera = new three.PerspectiveCamera(50, 1, 0.01, 1e5);
  private readonly group = new three.Group();
  private readonly lines = new three.Group();
  private readonly edges = new three.Group();
  private readonly outline = new three.LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.35 });
  private renderer: three.WebGLRenderer | null = null;
  private controls: OrbitControls | null = null;
  private parts: Part[] = [];
  private values: Float32Array = new Float32Array();
  private firstRows: Uint32Array = new Uint32Array();
  private scale: Scale = { map: "viridis", least: 0, most: 0, nominal: false };
  private radius = 1;
  private thread: ThreadFacts | null = null;
  private version = 0;

  constructor(
    private readonly store: Store,
    private readonly trace: TraceFacts,
  ) {
    this.select.addEventListener("change", () => store.set({ metric: this.select.value }));
    const view = element("button", { type: "button", title: "The camera of the primary rays (C)" }, "captured camera");
    view.addEventListener("click", () => void this.capturedCamera());
    const whole = element("button", { type: "button", title: "The whole scene (0)" }, "fit");
    whole.addEventListener("click", () => this.fit());
    const scales = element("select", { "aria-label": "Scale of colours", id: "faces" });
    fill(scales, ["log", "linear"].map((name) => ({ name, title: name })), store.view.faces);
    scales.addEventListener("change", () => store.set({ faces: scales.value }));
    byId("scene-bar").append(this.select, scales, view, whole, this.legend);
    this.scene.add(this.group, this.edges, this.lines);
    store.listen((_, changed) => {
      if (changed.has("launch") || changed.has("metric") || changed.has("colormap") || changed.has("faces")) {
        void this.paint();
      }
      if (changed.has("metric") || changed.has("launch")) {
        this.readout.textContent = "";
      }
      if (changed.has("ray") || changed.has("theme")) {
        this.drawRays();
      }
    });
  }

  /** Whether there is a scene to draw, and a way to draw it. */
  private start(): boolean {
    if (this.trace.scene.instances.length === 0) {
      showError(this.box, "The trace has no geometry.");
      return false;
    }
    try {
      this.renderer = new three.WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    } catch {
      showError(this.box, "This browser draws nothing in 3D (WebGL 2 is missing).");
      return false;
    }
    // Colours as they are in the tables.
    this.renderer.outputColorSpace = three.LinearSRGBColorSpace;
    this.renderer.setPixelRatio(window.devicePixelRatio || 1);
    const { domElement } = this.renderer;
    domElement.id = "scene-canvas";
    domElement.setAttribute("role", "img");
    domElement.setAttribute("aria-label", "The scene; its numbers are in the line below when a face is chosen");
    domElement.tabIndex = 0;
    this.box.replaceChildren(domElement);
    this.controls = new OrbitControls(this.camera, domElement);
    this.controls.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.box);
    let down: { x: number; y: number } | null = null;
    domElement.addEventListener("pointerdown", (event) => (down = { x: event.clientX, y: event.clientY }));
    domElement.addEventListener("pointerup", (event) => {
      if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4) {
        this.pick(event);
      }
      down = null;
    });
    return true;
  }

  async load(): Promise<void> {
    fill(
      this.select,
      this.trace.face_metrics.map((one) => ({ name: one.name, title: one.title, text: one.text })),
      this.store.view.metric,
    );
    if (!this.start()) {
      return;
    }
    const { scene } = this.trace;
    try {
      const geometries = await Promise.all(
        scene.geometries.map(async (_, number) => {
          const { columns } = await slice(`geometry/${number}`);
          const boxes = columns.get("boxes") as Float32Array | undefined;
          return boxes ? expandBoxes(boxes) : expand(columns.get("vertices") as Float32Array, columns.get("indices") as Uint32Array);
        }),
      );
      const attributes = geometries.map((corners) => new three.BufferAttribute(corners, 3));
      scene.instances.forEach((instance, number) => {
        const structure = scene.structures[instance.structure];
        let first = 0;
        for (let place = 0; structure && place < structure.geometries; ++place) {
          const geometry = structure.first_geometry + place;
          const facts = scene.geometries[geometry];
          const corners = attributes[geometry];
          if (!facts || !corners) {
            continue;
          }
          const made = new three.BufferGeometry();
          made.setAttribute("position", corners);
          made.setAttribute("color", new three.BufferAttribute(new Uint8Array(corners.count * 3).fill(128), 3, true));
          const mesh = new three.Mesh(made, new three.MeshBasicMaterial({ vertexColors: true, side: three.DoubleSide, toneMapped: false, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }));
          const m = instance.transform as [number, number, number, number, number, number, number, number, number, number, number, number];
          mesh.matrixAutoUpdate = false;
          mesh.matrix.set(...m, 0, 0, 0, 1);
          this.group.add(mesh);
          if (facts.primitives <= kMostOutlined) {
            const lines = new three.LineSegments(outlines(corners.array as Float32Array, facts.type === "boxes"), this.outline);
            lines.matrixAutoUpdate = false;
            lines.matrix.copy(mesh.matrix);
            this.edges.add(lines);
          }
          this.parts.push({ mesh, instance: number, geometry, place, primitives: facts.primitives, first, isBoxes: facts.type === "boxes" });
          first += facts.primitives;
        }
      });
      this.group.updateMatrixWorld(true);
      await this.paint();
      this.fit();
      this.drawRays();
      await this.capturedCamera();
    } catch (error) {
      showError(this.readout, error);
    }
  }

  private async paint(): Promise<void> {
    if (!this.renderer) {
      return;
    }
    const version = ++this.version;
    const { metric, launch, colormap } = this.store.view;
    const choice = this.trace.face_metrics.find((one) => one.name === metric) ?? (this.trace.face_metrics[0] as Choice);
    try {
      const { facts, columns } = await slice(`launch/${launch}/faces`, { metric: choice.name });
      if (version !== this.version) {
        return;
      }
      this.values = columns.get("values") as Float32Array;
      this.firstRows = columns.get("first") as Uint32Array;
      this.scale = { map: colormap, least: 0, most: facts["most"] as number, nominal: choice.nominal, logarithmic: this.store.view.faces === "log" };
      for (const part of this.parts) {
        this.color(part, choice);
      }
      const names = new Map(choice.nominal ? [...new Set(this.values)].filter(Number.isFinite).sort((a, b) => a - b).map((id) => [id, `${id} ${this.trace.shaders[id]?.name ?? ""}`]) : []);
      drawLegend(this.legend, this.scale, `${choice.title}; grey: untouched`, names);
      this.draw();
    } catch (error) {
      showError(this.readout, error);
    }
  }

  private valueOf(part: Part, primitive: number): number {
    return this.values[(this.firstRows[part.instance] as number) + part.first + primitive] as number;
  }

  private color(part: Part, choice: Choice): void {
    const attribute = part.mesh.geometry.getAttribute("color") as three.BufferAttribute;
    const corners = part.isBoxes ? kTrianglesOfBox * 3 : 3;
    const bytes = attribute.array as Uint8Array;
    for (let primitive = 0; primitive < part.primitives; ++primitive) {
      const value = this.valueOf(part, primitive);
      const color: Color = !choice.nominal && value === 0 ? nothing : colorOf(value, this.scale);
      for (let corner = primitive * corners; corner < (primitive + 1) * corners; ++corner) {
        bytes.set(color, 3 * corner);
      }
    }
    attribute.needsUpdate = true;
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.box;
    if (this.renderer && clientWidth > 0 && clientHeight > 0) {
      this.renderer.setSize(clientWidth, clientHeight);
      this.camera.aspect = clientWidth / clientHeight;
      this.camera.updateProjectionMatrix();
      this.draw();
    }
  }

  draw(): void {
    this.renderer?.render(this.scene, this.camera);
  }

  fit(): void {
    const sphere = new three.Box3().setFromObject(this.group).getBoundingSphere(new three.Sphere());
    this.radius = sphere.radius > 0 ? sphere.radius : 1;
    this.camera.near = this.radius / 1e4;
    this.camera.far = this.radius * 100;
    this.camera.fov = 50;
    this.camera.up.set(0, 1, 0);
    this.look(sphere.center.clone().add(new three.Vector3(0.6, 0.5, 1).setLength(this.radius * 2.2)), sphere.center);
  }

  private look(from: three.Vector3, to: three.Vector3): void {
    this.camera.position.copy(from);
    this.controls?.target.copy(to);
    this.camera.updateProjectionMatrix();
    this.controls?.update();
    this.resize();
    this.draw();
  }

  /** The pinhole whose rays go through the launch's corners, if the primary rays are such rays. */
  async capturedCamera(): Promise<void> {
    let facts: CameraFacts;
    try {
      facts = await json<CameraFacts>(`launch/${this.store.view.launch}/camera`);
    } catch (error) {
      showError(this.readout, error);
      return;
    }
    const { corners } = facts;
    if (!corners) {
      this.readout.textContent = "No camera: the corners of the recorded pixels have no primary rays.";
      return;
    }
    const directions = corners.map((ray) => new three.Vector3(...ray.direction).normalize());
    const [leftTop, rightTop, rightBottom, leftBottom] = directions as [three.Vector3, three.Vector3, three.Vector3, three.Vector3];
    const ahead = new three.Vector3().add(leftTop).add(rightTop).add(rightBottom).add(leftBottom);
    if (ahead.length() < 1e-3) {
      return;
    }
    ahead.normalize();
    const middle = (a: three.Vector3, b: three.Vector3): three.Vector3 => a.clone().add(b).normalize();
    const top = middle(leftTop, rightTop);
    const bottom = middle(leftBottom, rightBottom);
    const angle = top.angleTo(bottom);
    const up = top.clone().sub(bottom);
    if (angle < 1e-3 || angle > 3) {
      return;
    }
    const from = new three.Vector3(...(corners[0] as RayFacts).origin);
    this.camera.up.copy(up.normalize());
    this.camera.fov = three.MathUtils.radToDeg(angle);
    this.look(from, from.clone().addScaledVector(ahead, this.radius));
  }

  private pick(event: PointerEvent): void {
    const box = this.box.getBoundingClientRect();
    const place = new three.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const caster = new three.Raycaster();
    caster.setFromCamera(place, this.camera);
    const hit = caster.intersectObjects(this.group.children, false)[0];
    const part = hit && this.parts.find((one) => one.mesh === hit.object);
    if (!hit || !part || hit.faceIndex === undefined || hit.faceIndex === null) {
      this.readout.textContent = "nothing there";
      return;
    }
    const primitive = part.isBoxes ? Math.floor(hit.faceIndex / kTrianglesOfBox) : hit.faceIndex;
    const name = this.trace.scene.geometries[part.geometry]?.name ?? "";
    const value = this.valueOf(part, primitive);
    const shader = this.scale.nominal && Number.isFinite(value) ? ` ${this.trace.shaders[value]?.name ?? ""}` : "";
    this.readout.textContent = `instance ${part.instance}, geometry ${part.place}${name === "" ? "" : ` (${name})`}, primitive ${primitive}: ${short(value)}${shader} ${this.select.selectedOptions[0]?.textContent ?? ""}`;
  }

  showThread(facts: ThreadFacts | null): void {
    this.thread = facts;
    this.drawRays();
  }

  /** To the closest hit; a ray that missed leaves the scene; another one ends at the last candidate that a shader saw. */
  private lengthOf(thread: ThreadFacts, ray: RayFacts, index: number): number {
    const of = (kind: string): number[] =>
      thread.events.filter((event) => event.ray === index && this.trace.kinds[event.kind] === kind).map((event) => event.t ?? 0);
    const out = Math.min(ray.t_max ?? Infinity, (4 * this.radius) / Math.hypot(...ray.direction));
    return of("Miss").length > 0 ? out : (of("ClosestHit").at(-1) ?? of("AnyHit").at(-1) ?? out);
  }

  private drawRays(): void {
    for (const line of this.lines.children) {
      (line as three.LineSegments).geometry.dispose();
    }
    this.lines.clear();
    const { thread } = this;
    if (thread && this.renderer) {
      const style = getComputedStyle(document.documentElement);
      const { ray: chosen } = this.store.view;
      thread.rays.forEach((ray, index) => {
        const length = this.lengthOf(thread, ray, index);
        const from = new three.Vector3(...ray.origin);
        const to = from.clone().addScaledVector(new three.Vector3(...ray.direction), length);
        const material = new three.LineBasicMaterial({
          color: new three.Color(style.getPropertyValue(chosen === null || chosen === index ? "--mark" : "--quiet").trim()),
          depthTest: false,
          transparent: true,
          opacity: chosen === null || chosen === index ? 1 : 0.4,
        });
        this.lines.add(new three.LineSegments(new three.BufferGeometry().setFromPoints([from, to]), material));
      });
    }
    this.draw();
  }
}
