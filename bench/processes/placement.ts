import { cpus } from "node:os";

/** With `--pin`, the target under test gets the last processor for itself, client and upstream the others. */
export type Side = "target" | "load";

let pinned = false;

export function pin(): void {
  if (cpus().length < 2 || Bun.which("taskset") === null) throw new Error("--pin needs two processors and taskset");
  pinned = true;
}

export function placed(side: Side, command: readonly string[]): string[] {
  if (!pinned) return [...command];
  const last = cpus().length - 1;
  return ["taskset", "-c", side === "target" ? `${last}` : last === 1 ? "0" : `0-${last - 1}`, ...command];
}
