import { isAlive, type ProcessId, treeOf } from "./process-tree.ts";

/** Every process the run has started, so that all of them end with it, however it ends. */

interface Started {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<unknown>;
}

const started = new Set<Started>();

export function register(process: Started): void {
  started.add(process);
  void process.exited.then(() => started.delete(process));
}

const within = (ms: number, promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), Bun.sleep(ms).then(() => false)]);

function kill({ pid }: { pid: number }, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process ended by itself meanwhile.
  }
}

/** Asks the process to stop, and after the grace period kills whatever remains of its tree. */
async function stop(process: Started, graceMs: number): Promise<void> {
  const members: ProcessId[] = treeOf(process.pid);
  kill(process, "SIGTERM");
  await within(graceMs, process.exited);
  const deadline = Date.now() + 1_000;
  while (members.some(isAlive) && Date.now() < deadline) await Bun.sleep(50);
  for (const member of members) if (isAlive(member)) kill(member, "SIGKILL");
}

export async function stopOne(pid: number, graceMs = 15_000): Promise<void> {
  await Promise.all([...started].filter((process) => process.pid === pid).map((process) => stop(process, graceMs)));
}

export async function stopAll(graceMs = 15_000): Promise<void> {
  await Promise.all([...started].map((process) => stop(process, graceMs)));
}
