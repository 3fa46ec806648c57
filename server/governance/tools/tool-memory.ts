import { BoundedMap } from "../../directory/bounded-map.ts";
import type { ToolMemory } from "./tool-parts.ts";

const MAX_SERVERS = 5_000;
const MAX_DEFINITIONS = 5_000;
const MAX_SESSIONS = 20_000;

export function toolMemory(): ToolMemory {
  return { listed: new BoundedMap(MAX_SERVERS), definitions: new BoundedMap(MAX_DEFINITIONS), sessions: new BoundedMap(MAX_SESSIONS), underWay: new Map(), clientAnswers: new Map(), feeds: new Map(), held: new Map() };
}
