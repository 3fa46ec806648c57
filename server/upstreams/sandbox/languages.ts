import { ownEntry } from "../../kernel/collections/own-entry.ts";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { join } from "node:path";

export type Language = "bash" | "python" | "javascript";

/** How a language's scripts are started within the sandbox. */
export interface Interpreter {
  readonly command: readonly string[];
  /** A program of the host that is put there for it, at its place in the sandbox; null where the system's own is there. */
  readonly bind: readonly [host: string, inside: string] | null;
  /** Most kilobytes of addresses for one process; null where its engine reserves more than it uses. */
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

/** What a script is written in, by its name, else by its first line; null where it is nothing that is run. */
export function languageOf(path: string, content: Uint8Array): Language | null {
  const ending = /\.([a-z]+)$/.exec(path)?.[1];
  if (ending !== undefined) return ownEntry(BY_ENDING, ending) ?? null;
  const named = SHEBANG.exec(Buffer.from(content.subarray(0, 200)).toString("latin1"))?.[1];
  return named === undefined ? null : named === "node" ? "javascript" : named.startsWith("python") ? "python" : "bash";
}

const GIGABYTE_KB = 1024 * 1024;

/** The interpreters of this machine that a sandbox can use. */
export function interpreters(): ReadonlyMap<Language, Interpreter> {
  const found = new Map<Language, Interpreter>();
  if (existsSync("/usr/bin/bash")) found.set("bash", { command: ["/usr/bin/bash"], bind: null, addressSpaceKb: GIGABYTE_KB });
  if (existsSync("/usr/bin/python3")) found.set("python", { command: ["/usr/bin/python3", "-B"], bind: null, addressSpaceKb: GIGABYTE_KB });
  // The engine of the gateway itself is always there, and starts in a tenth of the time that Node.js takes.
  found.set("javascript", {
    command: ["/opt/bun", "--smol", "--no-install", "--no-env-file", "--config=/dev/null"],
    bind: [process.execPath, "/opt/bun"],
    // It has more threads where there are more processors, and each takes addresses.
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
      // Not there.
    }
  }
  return null;
}
