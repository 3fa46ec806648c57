import { execFileSync } from "node:child_process";
import { cpus, release, totalmem } from "node:os";

/** One line about the hardware, without anything that identifies the machine. */
export function machineLine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const node = execFileSync("node", ["--version"], { encoding: "utf8" }).trim();
  return `${cpus().length} x ${model}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}, Bun ${Bun.version}, Node ${node}`;
}
