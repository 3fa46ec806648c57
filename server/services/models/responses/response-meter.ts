import type { HeldResponse, ResponseStore, StoredResponse, UseOfResponse } from "../../../directory/responses/response-store.ts";
import type { GroupScope, ModelEntry, TenantSnapshot } from "../../../directory/snapshot.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { readAnswerBody } from "../../../road/answers/read-answer.ts";
import type { Call } from "../../../road/call.ts";
import type { JobBudgets } from "../../../road/call-limits.ts";
import type { BackgroundCalls } from "../../../road/own-calls/background-calls.ts";
import { costAt } from "../../../road/metering/cost.ts";
import { meteredUsage } from "../../../road/metering/stream-usage.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { filledOf, objectOf } from "../../../wire/openai/loose-fields.ts";
import { replyObject } from "../../../wire/openai/reply-object.ts";
import { outputCharacters } from "../../../wire/responses/responses-reply.ts";
import { isOpenResponse } from "../../../wire/responses/stored-response.ts";
import { feesOfResponse, usageOfResponse } from "../../../wire/responses/usage.ts";
import { inputTokens, type Usage } from "../../../wire/usage.ts";
import { type AttemptParts, providerOf, targetOf } from "../routing/attempt.ts";
import { responsePath } from "./ask-responses.ts";
import { writeUseRow } from "./write-use-row.ts";

export interface ResponseMeterParts extends Pick<AttemptParts, "providers"> {
  readonly store: ResponseStore;
  readonly calls: Pick<BackgroundCalls, "recordEvent">;
  readonly budgets: JobBudgets;
  /** Whether this process can write a row now; another one meters the responses while it cannot. */
  readonly recording: () => boolean;
  readonly tenant: (id: string) => TenantSnapshot | null | Promise<TenantSnapshot | null>;
  readonly scope: (tenantId: string, groupId: string) => GroupScope | null | Promise<GroupScope | null>;
  /** The audit chain of this process; a restarted process has the same one. */
  readonly chain: string;
  readonly now: () => number;
  readonly log: Log;
}

/** Polls in flight per process, and per tenant among them, so that one slow provider does not delay the others. */
const AT_ONCE = 64;
const OF_ONE_TENANT = 16;
const REQUEST_TIMEOUT_MS = 30_000;
/** During its lease no other process polls a response. */
const LEASE_MS = 3 * REQUEST_TIMEOUT_MS;
const STOP_TIMEOUT_MS = 5_000;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 20_000;
/** After this many polls, a response that its provider does not know is considered lost. */
const LOST_AFTER_POLLS = 5;
/** A response that has not ended by then never will, and an audit row not stored by then never will be. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

type ResponseReading = JsonObject | "open" | "gone" | "unclear";

/**
 * Determines what background responses used and reports each in one row, however often it is requested. Any process may poll any of them;
 * the process whose call began a response holds its worst case in the budgets until then.
 */
export class ResponseMeter {
  private readonly parts: ResponseMeterParts;
  /** Responses whose hold is in this process, by the ID of the call that began them. */
  private readonly held = new Map<string, HeldResponse>();
  private readonly underWay = new Map<Promise<void>, string>();
  private polling = false;
  private stopped = false;

  constructor(parts: ResponseMeterParts) {
    this.parts = parts;
  }

  /** Takes over the call's hold for the response it began. Returns what is held, zero if that failed. */
  async hold(call: Call) {
    const { budgets, chain, log } = this.parts;
    try {
      const { micros, tokens } = await budgets.takeOver(this.holdOf(call.id), call);
      return { held_micro_usd: micros, held_tokens: tokens, chain };
    } catch (error) {
      log.warn("response_budget_not_held", { call_id: call.id, error: error as Error });
      return { held_micro_usd: 0, held_tokens: 0, chain };
    }
  }

  /** Registers the hold for release, once a row reports the response's usage. */
  holds({ request_id, tenant_id, id }: HeldResponse): void {
    this.held.set(request_id, { request_id, tenant_id, id });
  }

  async release(callId: string, used: UseOfResponse | null = null): Promise<void> {
    this.held.delete(callId);
    const { budgets, log } = this.parts;
    await budgets
      .settle(this.holdOf(callId), used?.micros ?? 0, used ?? undefined)
      .catch((error: Error) => log.warn("response_budget_not_settled", { call_id: callId, error }));
  }

  /** Restores the holds this process had when it died. Must run before it serves calls, which would find that budget free. */
  async takeOver(): Promise<void> {
    const { store, chain } = this.parts;
    for (const row of await store.takeUp(chain)) {
      if (row.held_micro_usd + row.held_tokens === 0) continue;
      await this.holdFor(row);
      this.holds(row);
    }
  }

  private async holdFor(row: StoredResponse): Promise<void> {
    const scope = await this.parts.scope(row.tenant_id, row.resource_group_id);
    const model = scope?.tenant.models.get(row.model_id);
    if (scope === null || model === undefined) return;
    const { held_micro_usd: micros, held_tokens: tokens, root_task_id: rootTaskId, created_at: at } = row;
    await this.parts.budgets.hold(this.holdOf(row.request_id), { scope, model, rootTaskId, micros, tokens, at: at.getTime() }, null);
  }

  /** Looks for work; called at an interval. */
  async poll(): Promise<void> {
    if (this.stopped || this.polling) return;
    this.polling = true;
    const { store } = this.parts;
    try {
      if (this.held.size > 0)
        for (const { request_id: callId, used } of await store.settled([...this.held.values()])) await this.release(callId, used);
      if (!this.parts.recording()) return;
      const room = AT_ONCE - this.underWay.size;
      if (room <= 0) return;
      const turns = { most: room, mostOfOne: OF_ONE_TENANT, underWay: this.tenantsUnderWay() };
      for (const row of await store.takeDue(turns, LEASE_MS)) this.begin(row);
    } finally {
      this.polling = false;
    }
  }

  /** Starts nothing more and waits up to 5 s for polls under way; other processes continue with the rest. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.race([Promise.all(this.underWay.keys()), new Promise((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS))]);
  }

  private tenantsUnderWay(): Map<string, number> {
    const tenants = new Map<string, number>();
    for (const tenantId of this.underWay.values()) tenants.set(tenantId, (tenants.get(tenantId) ?? 0) + 1);
    return tenants;
  }

  private begin(row: StoredResponse): void {
    const step = this.step(row).catch(async (error: Error) => {
      this.parts.log.warn("response_not_metered", { response_id: row.id, error });
      await this.later(row).catch(() => undefined);
    });
    this.underWay.set(step, row.tenant_id);
    void step.finally(() => this.underWay.delete(step));
  }

  private async step(row: StoredResponse): Promise<void> {
    const { store, now } = this.parts;
    const old = now() - row.created_at.getTime() > GIVE_UP_AFTER_MS;
    if (row.settlement_id !== null) {
      const fate = await store.fateOf(row.tenant_id, row.settlement_id);
      if (fate?.interrupted === false) return store.noteSettled(row);
      const waited = now() - (row.settling_since?.getTime() ?? now());
      return fate === null && waited < GIVE_UP_AFTER_MS ? this.later(row) : store.forgetSettlement(row);
    }
    if (row.streamed) {
      const fate = await store.fateOf(row.tenant_id, row.request_id);
      if (fate?.metered === true) return store.noteSettled(row);
      if (fate === null && !old) return this.later(row);
    }
    const model = (await this.parts.tenant(row.tenant_id))?.models.get(row.model_id);
    const reading = model === undefined ? "unclear" : await this.ask(model, row.id);
    if (typeof reading !== "string") return this.settle(row, model ?? null, reading);
    if (old || (reading === "gone" && row.looks >= LOST_AFTER_POLLS)) return this.settle(row, model ?? null, {});
    return this.later(row);
  }

  private async settle(row: StoredResponse, model: ModelEntry | null, response: JsonObject): Promise<void> {
    const usage = meteredUsage(usageOfResponse(response), row.input_characters, outputCharacters(response), feesOfResponse(response));
    const used = useOf(row, model, usage);
    const error = objectOf(response.error);
    const failed = response.status === "failed" ? (filledOf(error?.message) ?? "the provider let the response fail") : null;
    // Once its caller has left, nothing is held for a stream. It is held here briefly, so that settling counts its usage.
    const isLeft = row.chain === null;
    if (isLeft)
      await this.holdFor(row).catch((reason: Error) =>
        this.parts.log.warn("response_budget_not_held", { call_id: row.request_id, error: reason }),
      );
    let isReported = false;
    try {
      isReported = await writeUseRow(this.parts, row, { used, usage, status: filledOf(response.status), failed });
    } finally {
      if (isLeft || (isReported && this.held.has(row.request_id))) await this.release(row.request_id, isReported ? used : null);
    }
  }

  private async ask(model: ModelEntry, id: string): Promise<ResponseReading> {
    const provider = providerOf(this.parts.providers, model);
    if (isRefusal(provider) || provider.ask === undefined) return "unclear";
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort("upstream_timeout"), REQUEST_TIMEOUT_MS * 2);
    try {
      const path = responsePath(id, { of: "response", query: "" });
      const reply = await provider.ask(targetOf(model), { method: "GET", path, abort, timeoutMs: REQUEST_TIMEOUT_MS });
      if (isRefusal(reply)) return "unclear";
      const { status } = reply.response;
      const body = replyObject(await readAnswerBody(reply.response));
      if (status === 404 || status === 410) return "gone";
      if (status !== 200 || body === null || body.id !== id) return "unclear";
      return isOpenResponse(body) ? "open" : body;
    } finally {
      clearTimeout(timer);
    }
  }

  private later(row: StoredResponse): Promise<void> {
    return this.parts.store.lookAgain(row, Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 1.25 ** Math.min(row.looks, 30)));
  }

  /** The hold's ID for budgets. It differs from the call's ID, because the call's own row reports no usage. */
  private holdOf(callId: string): string {
    return `${callId}/response/${this.parts.chain}`;
  }
}

function useOf(row: StoredResponse, model: ModelEntry | null, usage: Usage): UseOfResponse {
  const cost = model === null ? null : costAt(model.priceSchedule, usage, row.created_at.getTime());
  return { micros: cost?.micros ?? null, input: inputTokens(usage), output: usage.output };
}
