import { parentPort, workerData } from "node:worker_threads";
import { cpuMsOfTree } from "./cpu-time.ts";

/**
 * A thread of its own asks for a small thing again and again, so that only the gateway can keep it waiting. It says "ready" after
 * its first answer, which waits for the thread itself, and tells the most processor time that the process took while one request
 * waited, once it is told that all is over.
 */
const { url, pid } = workerData as { readonly url: string; readonly pid: number };

let over = false;
parentPort?.on("message", () => (over = true));

await (await fetch(url)).arrayBuffer();
parentPort?.postMessage("ready", []);
let longest = 0;
do {
  const before = cpuMsOfTree(pid);
  await (await fetch(url)).arrayBuffer();
  longest = Math.max(longest, cpuMsOfTree(pid) - before);
} while (!over);
parentPort?.postMessage(longest, []);
