import { OutboundDenied } from "../../runtime/destinations.ts";
import { type Outbound, OutboundTimeout } from "../../runtime/outbound.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { type EngineQuestion, type EngineVerdict, failed } from "../../wire/guardrail-engine.ts";

const MAX_BYTES = 1024 * 1024;

export type Posted = { readonly body: JsonObject } | { readonly verdict: EngineVerdict };

/** Posts JSON and reads the JSON object of the answer; a verdict with the reason if there is none. */
export async function post(...given: Parameters<typeof postForValue>): Promise<Posted> {
  const posted = await postForValue(...given);
  if ("verdict" in posted) return posted;
  return isObject(posted.value) ? { body: posted.value } : { verdict: failed("the engine's answer is no JSON object") };
}

/** As `post`, for an answer that may be any JSON value. */
export async function postForValue(
  outbound: Outbound,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { abort, timeoutMs }: EngineQuestion,
): Promise<{ readonly value: unknown } | { readonly verdict: EngineVerdict }> {
  const without = (reason: string) => ({ verdict: failed(reason) });
  try {
    const response = await outbound.fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", accept: "application/json", "user-agent": "gatehouse" },
      body,
      abort,
      timeoutMs,
    });
    const text = await readText(response);
    if (response.status < 200 || response.status >= 300) return without(`the engine answered ${response.status}`);
    return text === null ? without("the engine's answer is too long") : { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof OutboundTimeout || abort.signal.aborted) return without("the engine did not answer in time");
    if (error instanceof OutboundDenied) return without("the engine's address is not allowed from this gateway");
    return without(error instanceof SyntaxError ? "the engine's answer is no JSON" : "the engine could not be reached");
  }
}

/** Null if it is longer than any verdict. */
async function readText({ body }: Response): Promise<string | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.byteLength;
    if (size > MAX_BYTES) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
