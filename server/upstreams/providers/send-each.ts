import { type Refusal, isRefusal } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { ProviderReply } from "./provider.ts";
import { readJson } from "./read-json.ts";

/** Calls in parallel: enough to be fast, few enough not to be throttled. */
const MAX_CONCURRENT = 4;

export interface Answers {
  /** In the order of the bodies, without those that failed. */
  readonly answers: readonly { readonly body: JsonObject; readonly headers: Headers }[];
  /** The provider's ID of the first answered call. */
  readonly requestId: string | null;
  /** The first failed call; no further batch of calls is made after it. Null if none failed. */
  readonly failed: ProviderReply | Refusal | null;
}

export interface RoomForAnswers {
  /** For all answers together, and for each of them; no more calls are made once it is used up. */
  readonly mostBytes: number;
  /** What to keep of an answer that does not fit: the part that is billed. */
  billed(answer: JsonObject): JsonObject;
}

/** Makes one call per JSON body, for vendors that take one item per call. Without `room`, only `readJson` limits each answer. */
export async function sendEach(
  bodies: readonly string[],
  timeoutMs: number,
  sendOne: (body: string) => Promise<ProviderReply | Refusal>,
  room?: RoomForAnswers,
): Promise<Answers> {
  const answers: Answers["answers"][number][] = [];
  let requestId: string | null = null;
  let failed: ProviderReply | Refusal | null = null;
  let left = room?.mostBytes ?? Number.POSITIVE_INFINITY;
  for (let at = 0; at < bodies.length && failed === null && left > 0; at += MAX_CONCURRENT) {
    for (const reply of await Promise.all(bodies.slice(at, at + MAX_CONCURRENT).map((body) => sendOne(body)))) {
      if (isRefusal(reply)) failed ??= reply;
      else if (!reply.response.ok) {
        if (failed === null) failed = reply;
        else await withoutBody(reply);
      } else {
        const read = await readJson(reply.response, timeoutMs, room?.mostBytes);
        if ("code" in read) {
          failed ??= read;
          continue;
        }
        left -= read.bytes;
        answers.push({ body: left < 0 && room !== undefined ? room.billed(read.body) : read.body, headers: reply.response.headers });
        requestId ??= reply.requestId;
      }
    }
  }
  return { answers, requestId, failed };
}

export const jsonTexts = (bodies: readonly JsonObject[]): string[] => bodies.map((body) => JSON.stringify(body));

/** Discards the body of a failed call. */
export async function withoutBody(failed: ProviderReply | Refusal): Promise<void> {
  if (!isRefusal(failed)) await cancelQuietly(failed.response.body);
}
