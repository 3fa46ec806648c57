import { AnswerChecker } from "./answer-checker.ts";
import { Connection } from "./connection.ts";
import type { Job, JobResult } from "./job.ts";
import { ClosedLoop, OpenLoop, type Pacing } from "./pacing.ts";

/** How long calls in flight may take once no more are started. */
const DRAIN_MS = 10_000;
const MAX_MESSAGES = 5;

function requestBytes(job: Job): Buffer {
  const headers = Object.entries({
    host: `127.0.0.1:${job.port}`,
    "content-type": "application/json",
    ...job.headers,
    "content-length": String(Buffer.byteLength(job.body)),
  });
  return Buffer.from(`POST ${job.path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${job.body}`);
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted.length === 0 ? 0 : (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number);
}

export async function runJob(job: Job): Promise<JobResult> {
  let latencies = new Float64Array(65_536);
  let firstBytes = new Float64Array(65_536);
  let calls = 0;
  let errors = 0;
  let lastAt = 0;
  let working = job.connections;
  const messages: string[] = [];
  const pacing: Pacing = job.perSecond === undefined ? new ClosedLoop(job.calls ?? Number.POSITIVE_INFINITY) : new OpenLoop(job.perSecond);
  const { promise: allResting, resolve } = Promise.withResolvers<void>();

  const larger = (samples: Float64Array) => {
    const copy = new Float64Array(samples.length * 2);
    copy.set(samples);
    return copy;
  };
  const tally = {
    free: (connection: Connection) => pacing.free(connection),
    complete(startedAt: number, firstByteAt: number, now: number) {
      if (calls === latencies.length) {
        latencies = larger(latencies);
        firstBytes = larger(firstBytes);
      }
      latencies[calls] = now - startedAt;
      firstBytes[calls] = firstByteAt - startedAt;
      calls++;
      lastAt = now;
    },
    fail(message: string) {
      errors++;
      if (messages.length < MAX_MESSAGES) messages.push(message);
    },
    idle() {
      if (--working === 0) resolve();
    },
  };

  const checker = new AnswerChecker(job.check);
  const bytes = requestBytes(job);
  const connections = Array.from({ length: job.connections }, () => new Connection(job.port, bytes, checker, tally));
  await Promise.all(connections.map((connection) => connection.open()));

  const cpu = process.cpuUsage();
  const startAt = performance.now();
  pacing.begin(startAt + job.durationMs);
  for (const connection of connections) connection.ready();
  let stopWaiting: Timer | undefined;
  await Promise.race([allResting, new Promise<void>((give) => (stopWaiting = setTimeout(give, job.durationMs + DRAIN_MS)))]);
  clearTimeout(stopWaiting);
  pacing.end();
  const burnt = process.cpuUsage(cpu);
  if (working > 0) {
    const open = pacing.started - calls - errors;
    errors += open;
    messages.unshift(`${open} calls without an answer after ${DRAIN_MS} ms`);
  }
  for (const connection of connections) connection.end();

  const sorted = latencies.subarray(0, calls).sort();
  return {
    calls,
    errors,
    messages,
    elapsedMs: Math.max(lastAt - startAt, 0),
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    firstByteP50Ms: percentile(firstBytes.subarray(0, calls).sort(), 0.5),
    clientCpuSeconds: (burnt.user + burnt.system) / 1e6,
  };
}
