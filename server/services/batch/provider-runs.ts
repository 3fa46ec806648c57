import { storableText } from "../../kernel/text/storable.ts";
import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import type { AnswerOfLine, BatchJob, BatchJobError, TakenSubmission } from "../../directory/batch/batch-store.ts";
import { BoundedMap } from "../../directory/bounded-map.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import type { LineOutcomeOfVendor, ProviderBatches } from "../../upstreams/providers/provider-batches.ts";
import { VendorFault } from "../../upstreams/providers/provider-batches.ts";
import type { ProviderTarget } from "../../upstreams/providers/provider.ts";
import { oneLine } from "../../wire/batch/one-line.ts";
import { AnswerDelivery, type AnswerDeliveryParts } from "./answer-delivery.ts";
import type { KnownModels } from "../../directory/models/known-models.ts";
import { runnerId } from "./runner-id.ts";

const ALIVE_SECONDS = 15;
const RELEASED_MS = 60_000;
const RENEWAL_INTERVAL_MS = 3_000;
/** Lease of a live process on a batch, during which no other process polls it. */
const LEASE_SECONDS = 900;
const MAX_CONCURRENT = 8;
/** Per tenant, so that a slow provider does not delay the batches of other tenants. */
const MAX_PER_TENANT = 2;
const WRITE_BATCH_LINES = 200;
const WRITE_BATCH_CHARACTERS = 4 * 1024 * 1024;
/** Interval between polls of a batch: grows from the first to the last. */
const FIRST_POLL_MS = 1_000;
const MAX_POLL_MS = 60_000;
const GROWTH = 1.5;
/** A provider's list of batches may not yet show one that was just created. */
const LISTED_AFTER_MS = 10_000;
/** How many polls of an unreachable provider's batch are made after its job is to end: about an hour's worth. */
const MAX_POLLS_AFTER_END = 75;
/** Longest interval between submissions to a provider that is busy; each one sends all lines. */
const LAST_BUSY_MS = 600_000;
/** How often a batch is submitted before its lines are given up, if the provider is not just busy. */
const MAX_ATTEMPTS = 20;
/** How long a batch whose model was deleted before this process saw it is left to processes that still know the model. */
const LEFT_TO_OTHERS_MS = 600_000;
const MAX_UNKNOWN = 1_000;

export interface ProviderRunsParts extends AnswerDeliveryParts {
  readonly batches: Readonly<Partial<Record<ApiFormat, ProviderBatches>>>;
  readonly models: Pick<KnownModels, "find">;
  /** Why nothing more of the job may be done with the model; null if it may. */
  readonly jobFailure: (job: BatchJob, modelId: string) => Promise<BatchJobError | null>;
  /** Releases the holds of calls that are suspended here, except those given. */
  readonly release: (away: ReadonlySet<string>) => void;
  readonly now: () => number;
}

interface Vendor {
  readonly batches: ProviderBatches;
  readonly target: ProviderTarget;
}

/**
 * Manages batches at providers: submits the waiting lines, polls the batches, and hands their results to the lines. All state is in the
 * database, so any process can continue after another died.
 */
export class ProviderRuns {
  readonly id: string;
  private readonly parts: ProviderRunsParts;
  private readonly answers: AnswerDelivery;
  private readonly tending = new Set<Promise<void>>();
  private readonly tendedOf = new Map<string, number>();
  private readonly stopping = new AbortController();
  private readonly unknownSince = new BoundedMap<string, number>(MAX_UNKNOWN);
  private renewedAt = Number.NEGATIVE_INFINITY;
  private releasedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ProviderRunsParts) {
    this.parts = parts;
    this.id = runnerId(parts.chain);
    this.answers = new AnswerDelivery(parts, this.id, this.stopping.signal);
  }

  /** Looks for work; called at an interval. */
  async poll(): Promise<void> {
    if (this.stopping.signal.aborted) return;
    const { store } = this.parts;
    const jobs = (await store.active()).filter(({ mode }) => mode === "provider");
    await this.release();
    if (jobs.length === 0 && !this.answers.busy) return;
    await this.renew();
    await store.withdraw();
    await this.bundle();
    while (this.tending.size < MAX_CONCURRENT) {
      const busy = [...this.tendedOf].filter(([, count]) => count >= MAX_PER_TENANT).map(([tenantId]) => tenantId);
      const taken = await store.takeSubmission(this.id, LEASE_SECONDS, busy);
      if (taken === undefined) break;
      this.begin(taken);
    }
    // Not awaited: submitting, polling and cancelling batches must not wait for the delivery of answers.
    this.answers.begin(jobs);
  }

  /** Renews the leases on lines and batches, whatever this process is doing. */
  async stayAlive(): Promise<void> {
    if (this.answers.busy || this.tending.size > 0) await this.renew();
  }

  /** Starts nothing more. */
  stop(): void {
    this.stopping.abort("the gateway stops");
  }

  /** Resolves when everything that was started is written. */
  async settled(): Promise<void> {
    this.stop();
    await Promise.all([...this.tending, this.answers.settled()]);
  }

  private async renew(): Promise<void> {
    const now = performance.now();
    if (now - this.renewedAt < RENEWAL_INTERVAL_MS) return;
    await this.parts.store.keepAlive(this.id, ALIVE_SECONDS);
    this.renewedAt = now;
  }

  /** If other processes considered this one dead, they deliver the answers of its lines, so its holds for them are released. */
  private async release(): Promise<void> {
    const now = performance.now();
    if (now - this.releasedAt < RELEASED_MS) return;
    this.releasedAt = now;
    this.parts.release(new Set(await this.parts.store.callsAway(this.id)));
  }

  /** A bundle waits while more lines are on their way, until it has the largest size that the provider takes. */
  private async bundle(): Promise<void> {
    const { store } = this.parts;
    for (const left of await store.toBundle()) {
      const model = await this.parts.models.find(left.tenant_id, left.model_id);
      const vendor = model === null ? undefined : this.parts.batches[model.provider.apiFormat];
      const most = { lines: vendor?.mostLines ?? 1_000, bytes: vendor?.mostBytes ?? 1024 * 1024 };
      if (left.more && left.lines < most.lines && left.bytes < most.bytes) continue;
      await store.bundle(ulid(this.parts.now()).toLowerCase(), left, most);
    }
  }

  private vendorOf(model: ModelEntry): Vendor | null {
    const batches = this.parts.batches[model.provider.apiFormat];
    return batches === undefined ? null : { batches, target: { ...model.provider, modelName: model.modelName } };
  }

  /** Only a batch that was never submitted is given up at once: a submitted one costs money. */
  private async leaveToOthers(taken: TakenSubmission): Promise<void> {
    const { store, now } = this.parts;
    const since = this.unknownSince.get(taken.id) ?? now();
    if (taken.state === "ready" || now() - since >= LEFT_TO_OTHERS_MS) {
      this.unknownSince.delete(taken.id);
      return store.closeSubmission(taken, "model_not_found");
    }
    this.unknownSince.set(taken.id, since);
    await store.noteSubmission(this.id, taken.id, {}, FIRST_POLL_MS);
  }

  /** Ends the job if its submitter's access has ended; returns the submission with the job's current status. */
  private async asItStands(taken: TakenSubmission): Promise<TakenSubmission> {
    const { store, jobFailure } = this.parts;
    const job = taken.job_status === "in_progress" ? await store.read(taken.job_id) : undefined;
    const why = job === undefined ? null : await jobFailure(job, taken.model_id);
    if (why === null) return taken;
    await store.endAs(taken.job_id, "failed", why);
    return { ...taken, job_status: "finalizing", job_ends_as: "failed", job_error: why.code };
  }

  private begin(taken: TakenSubmission): void {
    const { tenant_id: tenantId } = taken;
    this.tendedOf.set(tenantId, (this.tendedOf.get(tenantId) ?? 0) + 1);
    const tended: Promise<void> = this.tend(taken).finally(() => {
      this.tending.delete(tended);
      const left = (this.tendedOf.get(tenantId) ?? 1) - 1;
      if (left > 0) this.tendedOf.set(tenantId, left);
      else this.tendedOf.delete(tenantId);
    });
    this.tending.add(tended);
  }

  private async tend(found: TakenSubmission): Promise<void> {
    const { store, log } = this.parts;
    let taken = found;
    try {
      taken = await this.asItStands(found);
      const model = await this.parts.models.find(taken.tenant_id, taken.model_id);
      if (model === null) return await this.leaveToOthers(taken);
      const vendor = this.vendorOf(model);
      if (vendor === null) return await store.closeSubmission(taken, "model_not_found");
      if (taken.state === "ready") await this.handOver(taken, vendor);
      else if (taken.state === "sending") await this.findSubmission(taken, vendor);
      else await this.follow(taken, vendor);
    } catch (error) {
      // Closed if the batch no longer exists, or is still unreachable long after its job ended.
      const gone = error instanceof VendorFault && error.status === 404 && taken.state === "running";
      if (gone || (taken.job_status !== "in_progress" && taken.looks > MAX_POLLS_AFTER_END))
        return store.closeSubmission(taken, error instanceof VendorFault ? messageOf(error.refusal) : "upstream_unreachable");
      log.warn("provider_batch_not_reached", { submission: taken.id, error: error as Error });
      const afterMs = delayBeforePoll(taken.looks);
      await store.noteSubmission(this.id, taken.id, {}, afterMs).catch(() => undefined);
    }
  }

  private async handOver(taken: TakenSubmission, { batches, target }: Vendor): Promise<void> {
    const { store } = this.parts;
    if (taken.job_status !== "in_progress") return store.closeSubmission(taken, taken.job_error ?? "batch_cancelled");
    const lines = (await store.linesToSend(taken)).map(({ line, sent }) => ({ id: `${taken.id}_${line}`, body: oneLine(sent) ?? sent }));
    const attempts = taken.attempts + 1;
    const sending = { state: "sending", attempts, sending_since: new Date(this.parts.now()) } as const;
    if (!(await store.noteSubmission(this.id, taken.id, sending, null))) return;
    const operation = taken.operation as Parameters<ProviderBatches["send"]>[1]["operation"];
    const over = await batches.send(target, { key: taken.id, operation, lines, headers: taken.job_headers ?? {} }, this.stopping.signal);
    switch (over.kind) {
      case "taken":
        await store.noteSubmission(this.id, taken.id, { state: "running", provider_batch: over.id }, FIRST_POLL_MS);
        return;
      case "busy":
        return this.postpone(taken, taken.attempts);
      case "refused":
        return store.closeSubmission(taken, messageOf(over.refusal));
      case "later":
        if (attempts >= MAX_ATTEMPTS) return store.closeSubmission(taken, messageOf(over.refusal));
        await store.noteSubmission(this.id, taken.id, { state: "ready" }, delayBeforePoll(attempts + 2));
        return;
      default:
        await store.noteSubmission(this.id, taken.id, {}, FIRST_POLL_MS);
    }
  }

  /** The provider is at its limit and must finish earlier batches first; until the job's window ends this does not count as an attempt. */
  private async postpone(taken: TakenSubmission, attempts: number): Promise<void> {
    const { code, message } = refuse("upstream_overloaded");
    await this.parts.store.explain(taken.job_id, { code, message });
    const again = { state: "ready", provider_batch: null, attempts } as const;
    await this.parts.store.noteSubmission(this.id, taken.id, again, delayBeforePoll(taken.looks, LAST_BUSY_MS));
  }

  /** For a batch that may or may not have been submitted: asks the provider whether it has it. */
  private async findSubmission(taken: TakenSubmission, { batches, target }: Vendor): Promise<void> {
    const { store, now } = this.parts;
    const since = taken.sending_since?.getTime() ?? now();
    const known = new Set(await store.knownBatches(taken.tenant_id));
    const found = await batches.find(target, { key: taken.id, lines: taken.lines, since, known }, this.stopping.signal);
    if (found.kind === "found") {
      await store.noteSubmission(this.id, taken.id, { state: "running", provider_batch: found.id }, 0);
      return;
    }
    const listed = now() - since > LISTED_AFTER_MS;
    if (found.kind === "none" && listed) {
      if (taken.attempts >= MAX_ATTEMPTS) return store.closeSubmission(taken, "upstream_unreachable");
      await store.noteSubmission(this.id, taken.id, { state: "ready" }, 0);
      return;
    }
    await store.noteSubmission(this.id, taken.id, {}, delayBeforePoll(taken.looks));
  }

  private async follow(taken: TakenSubmission, { batches, target }: Vendor): Promise<void> {
    const { store, log } = this.parts;
    const { signal } = this.stopping;
    const id = taken.provider_batch as string;
    const status = await batches.readStatus(target, id, signal);
    if (status.kind === "running") {
      if (status.unchecked !== true) await this.accepted(taken);
      const cancel = taken.job_status !== "in_progress" && !taken.cancelled;
      if (cancel) await batches.cancel(target, id, signal);
      await store.noteSubmission(
        this.id,
        taken.id,
        { cancelled: taken.cancelled || cancel },
        cancel ? FIRST_POLL_MS : delayBeforePoll(taken.looks),
      );
      return;
    }
    const tidied = () =>
      batches.tidy?.(target, id, signal).catch((error: Error) => log.warn("provider_batch_not_tidied", { submission: taken.id, error }));
    if (status.kind === "full") {
      if (taken.job_status !== "in_progress") await store.closeSubmission(taken, taken.job_error ?? "batch_cancelled");
      // A batch that another release of the gateway submitted has no lines left to send again.
      else if ((await store.linesToSend(taken)).length === 0) await store.closeSubmission(taken, "upstream_overloaded");
      else await this.postpone(taken, taken.attempts - 1);
      await tidied();
      return;
    }
    await this.accepted(taken);
    await this.collect(taken, batches.results(target, id, signal));
    const calledOff = status.why === "cancelled" ? taken.job_error : null;
    const ending = calledOff ?? (status.why === "failed" || status.why === null ? "upstream_error" : `batch_${status.why}`);
    await store.closeSubmission(taken, status.message === null ? ending : `${ending}: ${shortened(status.message)}`);
    await tidied();
  }

  /** The provider runs it: the sent bodies are no longer needed, nor a note of why the job waits. */
  private async accepted(taken: TakenSubmission): Promise<void> {
    await this.parts.store.forgetSent(taken);
    await this.parts.store.explain(taken.job_id, null);
  }

  private async collect(taken: TakenSubmission, results: AsyncIterable<LineOutcomeOfVendor>): Promise<void> {
    const { store } = this.parts;
    let some: AnswerOfLine[] = [];
    let characters = 0;
    for await (const outcome of results) {
      const answer = answerOf(taken, outcome);
      if (answer !== null) some.push(answer);
      characters += answer?.answer?.length ?? 0;
      if (some.length < WRITE_BATCH_LINES && characters < WRITE_BATCH_CHARACTERS) continue;
      await store.writeAnswers(taken, some);
      some = [];
      characters = 0;
    }
    if (some.length > 0) await store.writeAnswers(taken, some);
  }
}

const delayBeforePoll = (polls: number, lastMs = MAX_POLL_MS): number => Math.min(lastMs, FIRST_POLL_MS * GROWTH ** Math.min(polls, 30));

/** An error code, followed by a colon and a reason if there is one. */
function messageOf(refusal: Refusal): string {
  return refusal.reason === undefined ? refusal.code : `${refusal.code}: ${shortened(refusal.reason)}`;
}

const shortened = (message: string) => storableText(message.slice(0, 500));

/** Line numbers are 32-bit integers. */
const MAX_LINES = 2 ** 31;

/** Whether it is a success or failure status that has a body. */
const ofAnswer = (status: number) => Number.isInteger(status) && ((status >= 200 && status < 204) || (status >= 400 && status < 600));

/** Null if the ID is not of this batch. A status that no answer can have counts as 502. */
function answerOf({ id: submission, job_error: error }: TakenSubmission, outcome: LineOutcomeOfVendor): AnswerOfLine | null {
  const line = outcome.id.startsWith(`${submission}_`) ? Number(outcome.id.slice(submission.length + 1)) : Number.NaN;
  if (!Number.isSafeInteger(line) || line < 0 || line >= MAX_LINES) return null;
  if ("status" in outcome) {
    const { status } = outcome;
    return { line, status: ofAnswer(status) ? status : 502, answer: outcome.body, unanswered: null };
  }
  if (outcome.unanswered === "cancelled" && error !== null) return { line, status: null, answer: null, unanswered: error };
  const code = outcome.unanswered === "failed" ? "upstream_error" : `batch_${outcome.unanswered}`;
  return { line, status: null, answer: null, unanswered: outcome.message === null ? code : `${code}: ${shortened(outcome.message)}` };
}
