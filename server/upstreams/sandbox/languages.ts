import { ownEntry } from "../../kernel/collections/own-entry.ts";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { join } from "node:path";

export type Language = "bash" | "python" | "javascript";

/** How to start a language's scripts in the sandbox. */
export interface Interpreter {
  readonly command: readonly string[];
  /** A host program to bind into the sandbox, with its path there; null if the system's own is used. */
  readonly bind: readonly [host: string, inside: string] | null;
  /** Most kilobytes of address space per process; null if its engine reserves more than it uses. */
  readonly addressSpaceKb: number | null;
}

const BY_ENDING: Readonly<Record<string, Language>> = {
  sh: "bash",
  bash: "bash",
  py: "python",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
};
const SHEBANG = /^#!.*?\b(bash|sh|python3?|node)\b/;

/** The language of a script, by its extension, else by its shebang; null if it cannot be run. */
export function languageOf(path: string, content: Uint8Array): Language | null {
  const ending = /\.([a-z]+)$/.exec(path)?.[1];
  if (ending !== undefined) return ownEntry(BY_ENDING, ending) ?? null;
  const named = SHEBANG.exec(Buffer.from(content.subarray(0, 200)).toString("latin1"))?.[1];
  return named === undefined ? null : named === "node" ? "javascript" : named.startsWith("python") ? "python" : "bash";
}

const GIGABYTE_KB = 1024 * 1024;

/** The interpreters on this machine that a sandbox can use. */
export function interpreters(): ReadonlyMap<Language, Interpreter> {
  const found = new Map<Language, Interpreter>();
  if (existsSync("/usr/bin/bash")) found.set("bash", { command: ["/usr/bin/bash"], bind: null, addressSpaceKb: GIGABYTE_KB });
  if (existsSync("/usr/bin/python3")) found.set("python", { command: ["/usr/bin/python3", "-B"], bind: null, addressSpaceKb: GIGABYTE_KB });
  // The gateway's own engine is always available, and starts in a tenth of Node.js's time.
  found.set("javascript", {
    command: ["/opt/bun", "--smol", "--no-install", "--no-env-file", "--config=/dev/null"],
    bind: [process.execPath, "/opt/bun"],
    // It starts more threads on machines with more processors, and each reserves address space.
    addressSpaceKb: 2 * GIGABYTE_KB,
  });
  return found;
}

export function programOn(path: string, name: string): string | null {
  for (const folder of path.split(":").filter((one) => one.startsWith("/"))) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return realpathSync(file);
    } catch {
      // Try the next folder.
    }
  }
  return null;
}
