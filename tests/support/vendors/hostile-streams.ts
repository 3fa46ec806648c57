import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { World } from "../world.ts";

const MIB = 1024 * 1024;
const SENT_BYTES = 16 * MIB;
/** Bound on the serving thread's CPU time while one other call waits; part of it is work for that call. */
const MAX_WAIT_CPU_MS = 150;
/** Garbage collection may lag behind. */
const MAX_GROWTH_MIB = 96;

export const repeated = (text: string, bytes = SENT_BYTES) => Buffer.from(text.repeat(Math.ceil(bytes / text.length)));

/** Numbered frames, up to the size to be sent. */
export function numbered(frame: (n: number) => string): Buffer {
  let text = "";
  for (let n = 0; text.length < SENT_BYTES; n++) text += frame(n);
  return Buffer.from(text);
}

function memoryMib(world: World): number {
  const status = readFileSync(`/proc/${world.gateway.pid()}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** The most CPU time the serving thread used while one other call waited, until `work` ended, and the result of `work`. */
async function longestWait<Done>(world: World, work: () => Promise<Done>): Promise<{ readonly waited: number; readonly done: Done }> {
  const workerData = { runtimeUrl: world.gateway.runtimeUrl, pid: world.gateway.pid() };
  const caller = new Worker(new URL("../processes/waiting-caller.ts", import.meta.url), { workerData });
  const failed = new Promise<never>((_, reject) => caller.once("error", reject));
  // It may reject while the work is awaited; the rejection is reported afterwards.
  failed.catch(() => undefined);
  const said = () => Promise.race([failed, new Promise<unknown>((resolve) => caller.once("message", resolve))]);
  try {
    await said();
    const done = await work();
    const longest = said();
    caller.postMessage("over", []);
    return { waited: Number(await longest), done };
  } finally {
    await caller.terminate();
  }
}

/**
 * The end of the answer to a call with a hostile upstream. Meanwhile no other call may wait long, and memory must stay roughly the same.
 */
export async function borne(world: World, name: string, call: () => Promise<Response>, mostMib = MAX_GROWTH_MIB): Promise<string> {
  const idle = memoryMib(world);
  let most = idle;
  const looking = setInterval(() => (most = Math.max(most, memoryMib(world))), 20);
  const told = async () => {
    const { waited, done } = await longestWait(world, () => call().then(endOf));
    console.log(`  ${name}: ${waited} ms, ${Math.round(most - idle)} MiB`);
    return { waited, end: done };
  };
  const first = await told().finally(() => clearInterval(looking));
  // If the machine delayed the caller itself, the gateway kept working meanwhile, so one retry is allowed. Real blocking shows up again.
  const { waited, end } = first.waited < MAX_WAIT_CPU_MS ? first : await told();
  expect(waited).toBeLessThan(MAX_WAIT_CPU_MS);
  expect(most - idle).toBeLessThan(mostMib);
  return end;
}

async function endOf(response: Response): Promise<string> {
  let end = "";
  for await (const piece of response.body as ReadableStream<Uint8Array>) end = (end + Buffer.from(piece).toString("latin1")).slice(-400);
  return end;
}
