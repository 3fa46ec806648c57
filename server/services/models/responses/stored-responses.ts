import { headersToRepeat } from "../../../road/own-calls/repeated-headers.ts";
import { fileOwner } from "../../../directory/files/stored-files.ts";
import type { ResponseOwner, ResponseStore, ResponseToStore } from "../../../directory/responses/response-store.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { isRefusal, reasonOf, type Refusal, refuse } from "../../../kernel/errors.ts";
import type { Answer } from "../../../road/answer.ts";
import { arrivalOf, type Call } from "../../../road/call.ts";
import { modelOf } from "../../../road/target.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { isResponseId, storedIdOf } from "../../../wire/responses/stored-response.ts";
import { type ResponseQuery, askForResponse, type AskParts, noSuchResponse } from "./ask-responses.ts";
import type { ResponseMeter } from "./response-meter.ts";
import type { ResponsePlace, ResponseRecords } from "./response-records.ts";

interface StoredResponsesParts extends AskParts {
  readonly store: ResponseStore;
  readonly records: ResponseRecords;
  readonly meter: ResponseMeter;
  readonly now: () => number;
}

/** What a response was created with. */
export interface MadeResponse {
  readonly inputCharacters: number;
  readonly background: boolean;
}

/** As long as vendors store a response that nobody deletes. */
const RETENTION_MS = 30 * 24 * 3_600_000;
/** Most background responses of a tenant that have not ended. */
const MAX_OPEN = 1_000;
const FIRST_POLL_MS = 1_000;
const WRITE_TIMEOUT_MS = 60_000;
const WRITE_RETRY_MS = 500;

/** Stored responses as seen by their callers. */
export class StoredResponses {
  private readonly parts: StoredResponsesParts;

  constructor(parts: StoredResponsesParts) {
    this.parts = parts;
  }

  /** Null if the caller has no response of this ID. */
  find(call: Call, id: string): ResponsePlace | null | Refusal | Promise<ResponsePlace | null | Refusal> {
    const owner = ownerOf(call);
    if (owner === null || !isResponseId(id)) return null;
    const found = this.parts.records.find(owner, id);
    return found instanceof Promise ? found.catch(away) : found;
  }

  /** Records the owner of a stored response before the answer of its call ends; false if its provider stores none. */
  note(call: Call, response: JsonObject, made: MadeResponse): boolean {
    const id = storedIdOf(response);
    const row = id === null ? null : this.rowOf(call, id, made);
    if (row === null) return false;
    const pollAt = made.background ? new Date(this.parts.now() + FIRST_POLL_MS) : null;
    this.parts.records.keep(call, { ...row, look_at: pollAt, streamed: true });
    return true;
  }

  /** Null if the tenant may start one more background response. */
  async roomForOne(call: Call): Promise<Refusal | null> {
    try {
      const open = await this.parts.store.countOpen(call.identity?.tenantId ?? "");
      return open < MAX_OPEN ? null : refuse("too_many_responses", undefined, { headers: { "retry-after": "60" } });
    } catch (error) {
      return away(error);
    }
  }

  /**
   * Registers a background response: its worst case stays held, and its usage is determined when it ends. It is cancelled if its record
   * cannot be stored, because it would never be metered.
   */
  async begun(call: Call, response: JsonObject, made: MadeResponse): Promise<Refusal | null> {
    const { meter, records, now } = this.parts;
    const id = storedIdOf(response);
    const row = id === null ? null : this.rowOf(call, id, made);
    if (row === null) return refuse("upstream_invalid_response");
    const held = await meter.hold(call);
    const written = { ...row, ...held, look_at: new Date(now() + FIRST_POLL_MS) };
    for (const until = now() + WRITE_TIMEOUT_MS; ;) {
      try {
        if (await records.write(written)) {
          meter.holds(written);
          return null;
        }
        await meter.release(call.id);
        return refuse("upstream_invalid_response");
      } catch (error) {
        if (now() > until) return this.calledOff(call, row, error);
        await new Promise((resolve) => setTimeout(resolve, WRITE_RETRY_MS));
      }
    }
  }

  ask(call: Call, place: ResponsePlace, query: ResponseQuery): Promise<Answer | Refusal> {
    const model = modelOf(call);
    if (model === null) throw new Error("a response was asked for that no control had resolved");
    return askForResponse(call, model, place, query, this.parts);
  }

  /** Deletes the response at its provider; refused until its usage is known, and under a legal hold of its tenant. */
  async delete(call: Call, place: ResponsePlace): Promise<Answer | Refusal> {
    const owner = ownerOf(call) as ResponseOwner;
    const { store, records } = this.parts;
    try {
      const row = await store.find(owner, place.id);
      if (row === undefined) return noSuchResponse(place.id);
      if (row.look_at !== null) return refuse("response_not_metered", undefined, { headers: { "retry-after": "1" } });
      if (await store.isUnderLegalHold(owner.tenantId)) return refuse("legal_hold");
      const answer = await this.ask(call, place, { method: "DELETE", of: "response", query: "", stream: false });
      const gone = isRefusal(answer) ? answer.code === "response_not_found" : answer.status < 300;
      if (gone) {
        await store.delete(owner, place.id);
        records.forget(owner, place.id);
      }
      return answer;
    } catch (error) {
      return away(error);
    }
  }

  private async calledOff(call: Call, { id }: ResponseToStore, error: unknown): Promise<Refusal> {
    const model = modelOf(call) as ModelEntry;
    const place = { id, modelId: model.id, providerKey: model.provider.providerKey };
    await this.ask(call, place, { method: "POST", of: "cancel", query: "", stream: false }).catch(() => undefined);
    await this.parts.meter.release(call.id);
    return away(error);
  }

  private rowOf(call: Call, id: string, { inputCharacters, background }: MadeResponse) {
    const owner = ownerOf(call);
    const model = modelOf(call);
    if (owner === null || model === null) return null;
    const { row } = call;
    const at = arrivalOf(call);
    return {
      ...{ tenant_id: owner.tenantId, id, resource_group_id: owner.groupId, end_user_id: owner.userId },
      ...{
        api_key_id: background ? (row.api_key_id ?? null) : null,
        model_id: model.id,
        model: model.name,
        provider_key: model.provider.providerKey,
      },
      ...{ request_id: call.id, root_task_id: row.root_task_id ?? null, client_ip: call.ip, ...headersToRepeat(call) },
      ...{ input_characters: inputCharacters, created_at: new Date(at), expires_at: new Date(this.parts.now() + RETENTION_MS) },
      ...{ look_at: null as Date | null, streamed: false, held_tokens: 0, held_micro_usd: 0, chain: null as string | null },
    };
  }
}

function ownerOf({ identity, scope }: Call): ResponseOwner | null {
  return identity === null || scope === null ? null : fileOwner(identity, scope);
}

function away(error: unknown): Refusal {
  return refuse("directory_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
}
