import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { tmpdir } from "node:os";
import { freePort } from "./free-port.ts";
import { startLasting } from "./lasting-process.ts";

export interface TestValkey {
  readonly url: string;
  /** Kills it without a clean shutdown. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

function binary(): string | null {
  for (const name of ["valkey-server", "redis-server"]) {
    for (const folder of (process.env["PATH"] ?? "").split(delimiter)) if (existsSync(join(folder, name))) return join(folder, name);
  }
  return null;
}

const found = binary();
if (found === null) console.log("there is no valkey-server or redis-server here: the tests of shared counters are left out");

/** Whether tests that need Valkey can run on this machine. */
export const haveValkey = found !== null;

/** Starts an empty Valkey or Redis server without persistence. */
export async function startValkey(port?: number): Promise<TestValkey> {
  if (found === null) throw new Error("there is no Valkey here");
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-valkey-"));
  const at = port ?? (await freePort());
  let output = "";
  const ready = Promise.withResolvers<void>();
  const server = await startLasting(
    [found, "--port", String(at), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder],
    {
      onLine(line) {
        output += `${line}\n`;
        if (line.includes("Ready to accept connections")) ready.resolve();
      },
    },
  );
  void server.exited.then(() => ready.reject(new Error(`the Valkey server did not start:\n${output}`)));
  await ready.promise;
  const end = async (signal: NodeJS.Signals) => {
    server.kill(signal);
    await server.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `redis://127.0.0.1:${at}`, kill: () => end("SIGKILL"), stop: () => end("SIGTERM") };
}
