import { cpuMsOfTree } from "./cpu-time.ts";

/** A thread of its own asks for a small thing again and again, so that only the gateway can keep it waiting. */
declare const self: Worker;

let over = false;

self.onmessage = ({ data }: MessageEvent<{ url: string; pid: number } | "over">) => {
  if (data === "over") over = true;
  else void ask(data.url, data.pid);
};

/** Tells the most processor time that the process took while one request waited. */
async function ask(url: string, pid: number): Promise<void> {
  let longest = 0;
  do {
    const before = cpuMsOfTree(pid);
    await (await fetch(url)).arrayBuffer();
    longest = Math.max(longest, cpuMsOfTree(pid) - before);
  } while (!over);
  self.postMessage(longest);
}
