// Types of the viewer's JSON (docs/viewer.md).

export interface Choice {
  name: string;
  title: string;
  text: string;
  of_settings: boolean;
  nominal: boolean;
}
export interface LaunchFacts {
  width: number;
  height: number;
  depth: number;
  threads: number;
  rays: number;
  events: number;
  frame: number;
  milliseconds: number | null;
  has_warps: boolean;
  has_groups: boolean;
  tlas: number | null;
  maps: Choice[];
}
export interface ShaderFacts {
  shader: number;
  stage: string;
  name: string;
}
export interface SceneFacts {
  geometries: { type: "triangles" | "boxes"; primitives: number; opaque: boolean; name: string }[];
  structures: { first_geometry: number; geometries: number }[];
  instances: { structure: number; transform: number[]; custom_index: number }[];
  tops: { first_instance: number; instances: number }[];
}
export interface TraceFacts {
  file: string;
  hash: string;
  launch: number;
  tool_version: string;
  application: string;
  device: string;
  warp_size: number;
  not_captured: string[];
  launches: LaunchFacts[];
  shaders: ShaderFacts[];
  kinds: string[];
  scene: SceneFacts;
  face_metrics: Choice[];
  colors: Record<string, string>;
}
export interface KeyFacts {
  key: string;
  text: string;
  choices: { name: string; text: string }[];
  /** Of the command line. */
  value: string;
}
export interface RayFacts {
  origin: [number, number, number];
  direction: [number, number, number];
  t_min: number;
  t_max: number;
  flags: number;
}
export interface EventFacts {
  kind: number;
  shader: number;
  ray: number;
  t?: number;
  instance?: number;
  geometry?: number;
  primitive?: number;
}
export interface ThreadFacts {
  thread: number;
  pixel: [number, number, number];
  ray_count: number;
  event_count: number;
  rays: RayFacts[];
  events: EventFacts[];
}
export interface WarpFacts {
  thread: number;
  warp: number;
  start: number;
  warp_size: number;
  packing: string;
  order: string;
  policy: string;
  lanes: ({ thread: number; pixel: [number, number, number] } | null)[];
  event_count: number;
  efficiency: number | null;
  /** Kind, shader, bits of lanes 0 to 31, bits of lanes 32 to 63. */
  events: [number, number, number, number][];
}
/** Of the captured warp: without packing, order and policy. */
export interface CapturedFacts extends Omit<WarpFacts, "start" | "packing" | "order" | "policy"> {
  repacked: number;
  sm: number | null;
}
interface IdleFacts {
  warp_events: number;
  efficiency: number;
  idle_lanes: number;
  share: number;
}
export interface RankingFacts {
  idle_lanes: number;
  efficiency: number;
  warps: (IdleFacts & { warp: number; thread: number })[];
  calls: (IdleFacts & { kind: number; shader: number })[];
  pixels: { thread: number; calls: number; share: number }[];
}
export interface CameraFacts {
  corners: RayFacts[] | null;
  /** x, y, width and height of the recorded pixels. */
  window?: [number, number, number, number];
}
export interface WhatIfRow {
  packing: string;
  efficiency: number;
  change: number;
  warp_events: number;
  active_lanes: number;
  [more: string]: unknown;
}
export interface WhatIfFacts {
  rows: WhatIfRow[];
  settings: string;
  command: string;
}
