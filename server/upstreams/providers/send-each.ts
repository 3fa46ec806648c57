import { type Refusal, isRefusal } from "../../kernel/errors.ts";
import type { JsonObject } from "../../wire/document.ts";
import type { ProviderReply } from "./provider.ts";
import { readJson } from "./read-json.ts";

/** At once: enough to be quick, few enough not to be throttled. */
const TOGETHER = 4;

export interface Answers {
  /** In the order of the bodies. */
  readonly answers: readonly { readonly body: JsonObject; readonly headers: Headers }[];
  /** Of the first of them. */
  readonly requestId: string | null;
}

/**
 * Asks one thing in several calls, for vendors that take one text a call. What the first failing call came to is given instead;
 * with `keepsPart` only where none was answered before or beside it, since what was made is billed.
 */
export async function sendEach(
  bodies: readonly JsonObject[],
  timeoutMs: number,
  sendOne: (body: string) => Promise<ProviderReply | Refusal>,
  keepsPart = false,
): Promise<Answers | ProviderReply | Refusal> {
  const answers: Answers["answers"][number][] = [];
  let requestId: string | null = null;
  for (let at = 0; at < bodies.length; at += TOGETHER) {
    const replies = await Promise.all(bodies.slice(at, at + TOGETHER).map((body) => sendOne(JSON.stringify(body))));
    const failed = replies.find((reply) => isRefusal(reply) || !reply.response.ok);
    if (failed !== undefined) {
      for (const reply of keepsPart ? replies : []) {
        if (isRefusal(reply) || !reply.response.ok) continue;
        const read = await readJson(reply.response, timeoutMs);
        if (!("code" in read)) answers.push({ body: read.body, headers: reply.response.headers });
        requestId ??= reply.requestId;
      }
      const isPart = keepsPart && answers.length > 0;
      for (const reply of replies)
        if (!isRefusal(reply) && !reply.response.bodyUsed && (reply !== failed || isPart))
          await reply.response.body?.cancel().catch(() => undefined);
      return isPart ? { answers, requestId } : failed;
    }
    for (const { response, requestId: id } of replies as ProviderReply[]) {
      const read = await readJson(response, timeoutMs);
      if ("code" in read) {
        for (const reply of replies as ProviderReply[])
          if (reply.response !== response) await reply.response.body?.cancel().catch(() => undefined);
        return read;
      }
      answers.push({ body: read.body, headers: response.headers });
      requestId ??= id;
    }
  }
  return { answers, requestId };
}
