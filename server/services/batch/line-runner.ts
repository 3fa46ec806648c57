import type { Holder } from "../../road/admission/gateway-tokens.ts";
import type { Call } from "../../road/call.ts";
import type { QueuedJob, QueuedLine } from "../../directory/batch/line-queue.ts";
import type { BatchEndpoint } from "./batch-endpoints.ts";
import type { BatchParts } from "./batch-parts.ts";
import { endOf, INTERRUPTED, unanswered } from "./line-result.ts";

const RENEWED_MS = 8_000;
const IDLE_MS = 500;
/** While callers ask for things one line is begun in so long, and for so long after the last of them. */
const CROWDED_MS = 25;
const QUIET_MS = 250;
const LINES_A_CLAIM = 8;
const LONGEST_CORRELATION = 200;

/**
 * Carries lines out, a few at a time, and hardly any while callers make calls of their own. Any number of processes may: a line
 * is held by one of them, and its result is written once.
 */
export class LineRunner {
  private readonly parts: BatchParts;
  private readonly underWay = new Set<Promise<void>>();
  private stopped = false;
  private renewedAt = 0;
  private nudge: (() => void) | null = null;
  private running: Promise<void> = Promise.resolve();

  constructor(parts: BatchParts) {
    this.parts = parts;
  }

  start(): void {
    this.running = this.run();
  }

  /** There may be something to do. */
  readonly wake = (): void => {
    this.nudge?.();
  };

  /** Takes no more lines; resolves once those under way have their results. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    await this.running;
    await Promise.all(this.underWay);
  }

  private async run(): Promise<void> {
    // What this process held when it died is nobody's.
    let ownToo = true;
    while (!this.stopped) {
      try {
        if (this.underWay.size === 0 && (await this.parts.queue.isIdle)) {
          await this.pause(IDLE_MS);
          continue;
        }
        await this.renew();
        const abandoned = await this.parts.queue.takeAbandoned(ownToo, unanswered("failed", INTERRUPTED));
        ownToo = false;
        if (abandoned > 0) continue;
        const crowded = this.isCrowded;
        const room = (crowded ? 1 : this.parts.linesAtOnce) - this.underWay.size;
        const claimed = room > 0 ? await this.claim(Math.min(room, LINES_A_CLAIM)) : 0;
        if (crowded || room <= 0) await this.pause(CROWDED_MS, crowded);
        else if (claimed === 0) await this.pause(IDLE_MS);
      } catch (error) {
        this.parts.log.warn("batch_lines_not_carried", { error: error as Error });
        await this.pause(IDLE_MS);
      }
    }
  }

  /** Whether callers wait, or have asked for something just now and are likely to again. */
  private get isCrowded(): boolean {
    const { calls } = this.parts;
    return calls.size > this.underWay.size || calls.quietMs < QUIET_MS;
  }

  /** `whole`: though a line ends meanwhile. */
  private pause(ms: number, whole = false): Promise<void> {
    if (this.stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.nudge = null;
        resolve();
      };
      const timer = setTimeout(end, ms);
      if (!whole) this.nudge = end;
    });
  }

  private async renew(): Promise<void> {
    const now = performance.now();
    if (this.underWay.size === 0 || now - this.renewedAt < RENEWED_MS) return;
    this.renewedAt = now;
    await this.parts.queue.renew();
  }

  private async claim(most: number): Promise<number> {
    const claim = await this.parts.queue.claim(most);
    if (claim === null) return 0;
    const holder = holderOf(claim.job, claim.keyHash, this.parts.clock.now());
    for (const line of claim.lines) this.begin(claim.job, line, holder);
    return claim.lines.length;
  }

  private begin(job: QueuedJob, line: QueuedLine, holder: Holder): void {
    const work = this.carryOut(job, line, holder)
      .catch((error: Error) => this.parts.log.warn("batch_line_not_finished", { error }))
      .finally(() => {
        this.underWay.delete(work);
        this.wake();
      });
    this.underWay.add(work);
  }

  private async carryOut(job: QueuedJob, line: QueuedLine, holder: Holder): Promise<void> {
    const { clock, queue } = this.parts;
    const carried = await this.parts.carry(job.endpoint as BatchEndpoint, {
      arrival: { method: "POST", url: `http://gateway${job.endpoint}`, headers: headersOf(job, line) },
      ip: job.client_ip,
      holder,
      body: new TextEncoder().encode(line.body),
      admitted: (call) => noteLine(call, job, line),
    });
    if (carried === null) return queue.again(line, null);
    const { call, response } = carried;
    const answer = { call, status: response.status, headers: response.headers, body: await response.text() };
    const end = endOf(answer, line.attempt, job.retry_interrupted, clock.now());
    if (end.kind === "again") return queue.again(line, end.pause);
    await queue.finish(line, end.result);
    if (end.kind === "end_job") await queue.endJob(job, end.error);
  }
}

/** `key`: the hash of the key's value as it is now; empty where the key is gone, which nobody can show. */
function holderOf(job: QueuedJob, key: string | null, now: number): Holder {
  if (key !== null) return { kind: "key", hash: key };
  return { kind: "user", tenantId: job.tenant_id, userId: job.end_user_id ?? "", since: now };
}

function headersOf(job: QueuedJob, line: QueuedLine): Headers {
  const headers = new Headers({
    "content-type": "application/json",
    "x-resource-group": job.resource_group_id,
    "x-correlation-id": job.correlation_id.slice(0, LONGEST_CORRELATION),
    // For vendors that honour it, so that a line tried again is not carried out twice.
    "idempotency-key": `${job.id}:${line.seq}`,
  });
  if (job.run_id !== null) headers.set("x-gw-run-id", job.run_id);
  return headers;
}

function noteLine(call: Call, job: QueuedJob, line: QueuedLine): void {
  const { row } = call;
  row.tenant_id = job.tenant_id;
  row.resource_group_id ??= job.resource_group_id;
  row.parent_request_id = job.id;
  row.root_task_id = job.root_task_id;
  row.custom_metadata = {
    ...(row.custom_metadata as object | null | undefined),
    batch: { job_id: job.id, line: line.seq, custom_id: line.custom_id, attempt: line.attempt },
  };
}
