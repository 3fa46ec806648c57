import { verify } from "node:crypto";
import { discoveryEvents, type DiscoveryEventsTaken } from "@gatehouse/contracts/discovery";
import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import { BoundedMap } from "../../directory/bounded-map.ts";
import { collectorOfKey, collectorPublicKey } from "../../directory/discovery/collector-keys.ts";
import { takeEvents } from "../../directory/discovery/take-events.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { isRefusal, type Refusal, refuse, Refused } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import type { Call } from "../../road/call.ts";
import { jsonObjectOf } from "../../wire/json/json-object.ts";
import { check, utf8Of } from "../../wire/http/strict-input.ts";

/** Accepts signed events from collectors. */
export interface CollectorInlet {
  accept(call: Call, body: Uint8Array): Promise<DiscoveryEventsTaken | Refusal>;
}

const CLOCK_MS = 5 * 60_000;
const REQUESTS_PER_MINUTE = 120;
const MINUTE_MS = 60_000;
const COUNTED_KEYS = 100_000;
const SIGNATURE = /^[A-Za-z0-9+/_-]{86}(?:==)?$/;

const unproven = (reason: string) => refuse("unauthenticated", undefined, { reason });

/** `ownOrigins`: the origins at which clients reach this gateway. */
export function collectorInlet(directory: Pick<Directory, "db" | "clock">, ownOrigins: readonly string[]): CollectorInlet {
  const sent = new BoundedMap<string, { minute: number; requests: number }>(COUNTED_KEYS);

  /** Counts the request against the key's rate limit. Returns the seconds to wait, or 0 when the request is within the limit. */
  function tooSoon(keyId: string): number {
    const now = directory.clock.now();
    const minute = Math.floor(now / MINUTE_MS);
    const before = sent.get(keyId);
    const requests = before?.minute === minute ? before.requests + 1 : 1;
    sent.set(keyId, { minute, requests });
    return requests > REQUESTS_PER_MINUTE ? Math.ceil(((minute + 1) * MINUTE_MS - now) / 1000) : 0;
  }

  /** Authenticates the sender: the key must exist, match the collector, not be revoked, and have signed the body. */
  async function proven(call: Call, body: Record<string, unknown>): Promise<{ readonly keyId: string } | Refusal> {
    const { key_id: keyId, collector_id: collectorId } = body;
    if (typeof keyId !== "string" || !isUuid(keyId)) return unproven("collector_key_unknown");
    const key = await collectorOfKey(directory, keyId);
    if (key === undefined || key.collector_id !== collectorId) return unproven("collector_key_unknown");
    call.row.tenant_id = key.tenant_id;
    if (key.revoked_at !== null) return unproven("collector_key_revoked");
    const signature = call.headers.get("x-gw-collector-signature") ?? "";
    const isOurs =
      SIGNATURE.test(signature) &&
      verify(null, Buffer.from(canonicalJson(body)), collectorPublicKey(key.public_key), Buffer.from(signature, "base64"));
    if (!isOurs) return unproven("collector_signature_invalid");
    call.row.subject_kind = "service";
    call.row.subject_id = key.id;
    return { keyId: key.id };
  }

  async function accepted(call: Call, bytes: Uint8Array): Promise<DiscoveryEventsTaken | Refusal> {
    const body = jsonObjectOf(utf8Of(bytes), call.headers.get("content-type") ?? "");
    const sender = await proven(call, body);
    if (isRefusal(sender)) return sender;
    const wait = tooSoon(sender.keyId);
    if (wait > 0) return refuse("collector_rate_limited", undefined, { headers: { "retry-after": String(wait) } });
    const at = typeof body.sent_at === "string" ? Date.parse(body.sent_at) : Number.NaN;
    if (!(Math.abs(directory.clock.now() - at) <= CLOCK_MS)) return refuse("collector_clock");
    const events = check(discoveryEvents, body, "invalid_body");
    const early = events.events.findIndex(({ observed_at: observed }) => Date.parse(observed) > at + CLOCK_MS);
    if (early >= 0) {
      const field = `events.${early}.observed_at`;
      return refuse("invalid_body", `${field}: is in the future`, { fields: [{ field, message: "is in the future" }] });
    }
    const taken = await takeEvents(directory, sender.keyId, events, ownOrigins);
    if (!isRefusal(taken)) {
      const { accepted: events_accepted, duplicates: events_duplicate, rejected } = taken;
      call.row.custom_metadata = { events_accepted, events_duplicate, events_rejected: rejected.length };
    }
    return taken;
  }

  return {
    async accept(call, bytes) {
      try {
        return await accepted(call, bytes);
      } catch (error) {
        if (error instanceof Refused) return error.refusal;
        throw error;
      }
    },
  };
}
