import type { HeldResponse, ResponseStore, StoredResponse, UseOfResponse } from "../../../directory/responses/response-store.ts";
import type { GroupScope, ModelEntry, TenantSnapshot } from "../../../directory/snapshot.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import type { Log } from "../../../kernel/log.ts";
import { readAnswerBody } from "../../../road/answers/read-answer.ts";
import type { Call } from "../../../road/call.ts";
import type { JobBudgets } from "../../../road/call-limits.ts";
import type { BackgroundCalls } from "../../../road/background-calls.ts";
import { costAt } from "../../../road/metering/cost.ts";
import { meteredUsage } from "../../../road/metering/stream-usage.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { filledOf, objectOf } from "../../../wire/openai/loose-fields.ts";
import { replyObject } from "../../../wire/openai/reply-object.ts";
import { outputCharacters } from "../../../wire/responses/responses-reply.ts";
import { isOpenResponse } from "../../../wire/responses/stored-response.ts";
import { usageOfResponse } from "../../../wire/responses/usage.ts";
import { inputTokens, type Usage } from "../../../wire/usage.ts";
import { type AttemptParts, providerOf, targetOf } from "../routing/attempt.ts";
import { responsePath } from "./ask-responses.ts";
import { writeUseRow } from "./write-use-row.ts";

export interface ResponseMeterParts extends Pick<AttemptParts, "providers"> {
  readonly store: ResponseStore;
  readonly calls: Pick<BackgroundCalls, "recordEvent">;
  readonly budgets: JobBudgets;
  readonly tenant: (id: string) => TenantSnapshot | null | Promise<TenantSnapshot | null>;
  readonly scope: (tenantId: string, groupId: string) => GroupScope | null | Promise<GroupScope | null>;
  /** The chain of this process, which it has again when it comes back. */
  readonly chain: string;
  readonly now: () => number;
  readonly log: Log;
}

/** Looked at at once by a process, and those of one tenant among them: a provider that is slow to answer must not keep it from others. */
const AT_ONCE = 64;
const OF_ONE_TENANT = 16;
const ASKED_MS = 30_000;
/** Nobody else looks at a response meanwhile. */
const LEASE_MS = 3 * ASKED_MS;
const LEFT_AFTER_MS = 5_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 20_000;
/** Looks at which a provider may not know a response before that is believed. */
const GONE_AFTER = 5;
/** A provider that has come to no end after so long never will, and a row not there by then never comes. */
const LONGEST_MS = 24 * 3_600_000;

type Look = JsonObject | "open" | "gone" | "unclear";

/**
 * Determines what background responses used and reports each in one row, however often it is asked for. Any process may poll any of them;
 * the process whose call began a response holds its worst case in the budgets until then.
 */
export class ResponseMeter {
  private readonly parts: ResponseMeterParts;
  /** The responses for which something is held here, by the calls that began them. */
  private readonly held = new Map<string, HeldResponse>();
  private readonly underWay = new Map<Promise<void>, string>();
  private looking = false;
  private stopped = false;

  constructor(parts: ResponseMeterParts) {
    this.parts = parts;
  }

  /** Holds what a call holds for the response that it began. */
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

  /** What is held for a call's response is given up once a row tells what it used. */
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

  /** Holds again what this process held when it died: to be done before it takes calls, which would find that room free. */
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

  /** Looks at what there is to do; to be called again and again. */
  async look(): Promise<void> {
    if (this.stopped || this.looking) return;
    this.looking = true;
    const { store } = this.parts;
    try {
      if (this.held.size > 0)
        for (const { request_id: callId, used } of await store.settled([...this.held.values()])) await this.release(callId, used);
      const room = AT_ONCE - this.underWay.size;
      if (room <= 0) return;
      const turns = { most: room, mostOfOne: OF_ONE_TENANT, underWay: this.tenantsUnderWay() };
      for (const row of await store.takeDue(turns, LEASE_MS)) this.begin(row);
    } finally {
      this.looking = false;
    }
  }

  /** Begins no more, and lets what is under way end, for a while: others look again at what it leaves. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.race([Promise.all(this.underWay.keys()), new Promise((resolve) => setTimeout(resolve, LEFT_AFTER_MS))]);
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
    const old = now() - row.created_at.getTime() > LONGEST_MS;
    if (row.settlement_id !== null) {
      const fate = await store.fateOf(row.tenant_id, row.settlement_id);
      if (fate?.interrupted === false) return store.noteSettled(row);
      const waited = now() - (row.settling_since?.getTime() ?? now());
      return fate === null && waited < LONGEST_MS ? this.later(row) : store.forgetSettlement(row);
    }
    if (row.streamed) {
      const fate = await store.fateOf(row.tenant_id, row.request_id);
      if (fate?.metered === true) return store.noteSettled(row);
      if (fate === null && !old) return this.later(row);
    }
    const model = (await this.parts.tenant(row.tenant_id))?.models.get(row.model_id);
    const look = model === undefined ? "unclear" : await this.ask(model, row.id);
    if (typeof look !== "string") return this.settle(row, model ?? null, look);
    if (old || (look === "gone" && row.looks >= GONE_AFTER)) return this.settle(row, model ?? null, {});
    return this.later(row);
  }

  private async settle(row: StoredResponse, model: ModelEntry | null, response: JsonObject): Promise<void> {
    const usage = meteredUsage(usageOfResponse(response), row.input_characters, outputCharacters(response));
    const used = useOf(row, model, usage);
    const error = objectOf(response.error);
    const failed = response.status === "failed" ? (filledOf(error?.message) ?? "the provider let the response fail") : null;
    // Nothing is held any more for a stream that its caller left. What it used is added to what the windows say without its row.
    const isLeft = row.chain === null;
    if (isLeft)
      await this.holdFor(row).catch((reason: Error) =>
        this.parts.log.warn("response_budget_not_held", { call_id: row.request_id, error: reason }),
      );
    let told = false;
    try {
      told = await writeUseRow(this.parts, row, { used, usage, status: filledOf(response.status), failed });
    } finally {
      if (isLeft || (told && this.held.has(row.request_id))) await this.release(row.request_id, told ? used : null);
    }
  }

  private async ask(model: ModelEntry, id: string): Promise<Look> {
    const provider = providerOf(this.parts.providers, model);
    if (isRefusal(provider) || provider.ask === undefined) return "unclear";
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort("upstream_timeout"), ASKED_MS * 2);
    try {
      const path = responsePath(id, { of: "response", query: "" });
      const reply = await provider.ask(targetOf(model), { method: "GET", path, abort, timeoutMs: ASKED_MS });
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
    return this.parts.store.lookAgain(row, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 1.25 ** Math.min(row.looks, 30)));
  }

  /** What counters know the hold by: not the call's own id, whose row says that it used nothing. */
  private holdOf(callId: string): string {
    return `${callId}/response/${this.parts.chain}`;
  }
}

function useOf(row: StoredResponse, model: ModelEntry | null, usage: Usage): UseOfResponse {
  const cost = model === null ? null : costAt(model.priceSchedule, usage, row.created_at.getTime());
  return { micros: cost?.micros ?? null, input: inputTokens(usage), output: usage.output };
}
