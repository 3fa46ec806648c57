import { type Refusal, isRefusal } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { ProviderReply } from "./provider.ts";
import { readJson } from "./read-json.ts";

/** At once: enough to be quick, few enough not to be throttled. */
const TOGETHER = 4;

export interface Answers {
  /** In the order of the bodies. */
  readonly answers: readonly { readonly body: JsonObject; readonly headers: Headers }[];
  /** Of the first of them. */
  readonly requestId: string | null;
  /** What the first call that failed came to; then no more were made. Null where none did. */
  readonly failed: ProviderReply | Refusal | null;
}

export interface RoomForAnswers {
  /** For all answers together, and so for each; once they fill it no more calls are made. */
  readonly mostBytes: number;
  /** What is kept of an answer that finds no room: what it is billed by. */
  billed(answer: JsonObject): JsonObject;
}

/** Asks one thing in several calls, for vendors that take one text a call; `bodies` are JSON. Without `room` answers are as large as `readJson` has them. */
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
  for (let at = 0; at < bodies.length && failed === null && left > 0; at += TOGETHER) {
    for (const reply of await Promise.all(bodies.slice(at, at + TOGETHER).map((body) => sendOne(body)))) {
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

/** For who does without what a call came to. */
export async function withoutBody(failed: ProviderReply | Refusal): Promise<void> {
  if (!isRefusal(failed)) await cancelQuietly(failed.response.body);
}
