import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { World } from "../world.ts";

const MIB = 1024 * 1024;
const SENT_BYTES = 16 * MIB;
/** Processor time of the thread that serves calls while one other call waits: it does some work for that call too. */
const LONGEST_WAIT_CPU_MS = 150;
/** The collector may take its time. */
const MAX_GROWTH_MIB = 96;

export const repeated = (text: string, bytes = SENT_BYTES) => Buffer.from(text.repeat(Math.ceil(bytes / text.length)));

/** Frames that differ by their number, as many as come to what is sent. */
export function numbered(frame: (n: number) => string): Buffer {
  let text = "";
  for (let n = 0; text.length < SENT_BYTES; n++) text += frame(n);
  return Buffer.from(text);
}

function memoryMib(world: World): number {
  const status = readFileSync(`/proc/${world.gateway.pid()}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** The most processor time the thread that serves calls took while one other call waited, until `work` is over, and what the work came to. */
async function longestWait<Done>(world: World, work: () => Promise<Done>): Promise<{ readonly waited: number; readonly done: Done }> {
  const workerData = { runtimeUrl: world.gateway.runtimeUrl, pid: world.gateway.pid() };
  const caller = new Worker(new URL("../processes/waiting-caller.ts", import.meta.url), { workerData });
  const failed = new Promise<never>((_, reject) => caller.once("error", reject));
  // It may fail while the work is waited for, and is told of afterwards.
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

/** The end of the answer to a call whose upstream does its worst; meanwhile nobody else waits, and memory stays about what it was. */
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
  // Where the machine kept the caller itself from hearing its answer, the gateway worked on meanwhile. What is done without a break is
  // done so again.
  const { waited, end } = first.waited < LONGEST_WAIT_CPU_MS ? first : await told();
  expect(waited).toBeLessThan(LONGEST_WAIT_CPU_MS);
  expect(most - idle).toBeLessThan(mostMib);
  return end;
}

async function endOf(response: Response): Promise<string> {
  let end = "";
  for await (const piece of response.body as ReadableStream<Uint8Array>) end = (end + Buffer.from(piece).toString("latin1")).slice(-400);
  return end;
}
