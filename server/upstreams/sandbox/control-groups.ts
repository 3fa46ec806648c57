import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ControlGroupRoot, RUN_LIMITS, RUN_MEMORY_BYTES } from "./confinement.ts";

const ROOT = "/sys/fs/cgroup";
// Allows for the shells and bubblewrap itself.
const PIDS = { "pids.max": String(RUN_LIMITS.processes + 16) };

/** Control group folders in which this process can create groups, verified by creating one; empty if there are none. */
export function usableControlGroups(): ControlGroupRoot[] {
  return candidates().filter(works);
}

function candidates(): ControlGroupRoot[] {
  const memory = String(RUN_MEMORY_BYTES);
  const own = ownGroups();
  const unified = own.get("");
  return [
    // In cgroup v2, a group with processes cannot have children with limits, but it may have siblings.
    ...(unified === undefined
      ? []
      : [{ folder: join(ROOT, dirname(unified)), limits: { "memory.max": memory, "memory.swap.max": "0", ...PIDS } }]),
    ...(own.has("memory") ? [{ folder: join(ROOT, "memory", own.get("memory") ?? ""), limits: { "memory.limit_in_bytes": memory } }] : []),
    ...(own.has("pids") ? [{ folder: join(ROOT, "pids", own.get("pids") ?? ""), limits: PIDS }] : []),
  ];
}

/** The control groups of this process by controller; the unified hierarchy has the empty name. */
function ownGroups(): Map<string, string> {
  try {
    const lines = readFileSync("/proc/self/cgroup", "utf8").split("\n").filter(Boolean);
    return new Map(
      lines.flatMap((line) => {
        const [, controllers = "", ...path] = line.split(":");
        return controllers.split(",").map((controller): [string, string] => [controller, path.join(":")]);
      }),
    );
  } catch {
    return new Map();
  }
}

function works({ folder, limits }: ControlGroupRoot): boolean {
  const group = join(folder, `gatehouse-probe-${process.pid}`);
  try {
    mkdirSync(group);
  } catch {
    return false;
  }
  try {
    if (!Object.keys(limits).every((file) => existsSync(join(group, file)))) return false;
    for (const [file, value] of Object.entries(limits)) writeFileSync(join(group, file), value);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(group);
  }
}
