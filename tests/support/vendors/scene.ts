/** What every fake vendor says, in any format. */
export const WORDS = ["Grüße ", "aus ", "Oslo ", "👋"] as const;
export const TEXT = WORDS.join("");
export const PICTURE_TEXT = "A picture.";
export const TOOL = { name: "weather", arguments: { city: "Oslo" } } as const;
export const AFTER_TOOL = "It is 4 degrees.";
export const THOUGHT = "The user asks for the weather.";
/** Sent with reasoning; must come back unchanged in a tool loop. */
export const SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS1mYWtl";
export const STRUCTURED = { city: "Oslo", degrees: 4 } as const;
export const VECTORS: readonly (readonly number[])[] = [
  [0.5, -0.25, 0.125],
  [1, 0, -1],
];
export const COUNTED = 42;
/** Usage as Google reports it for embeddings. */
export const EMBEDDED = { promptTokenCount: 3 } as const;
export const USAGE = { input: 20, output: 8 } as const;

/** The features a request uses, whatever its format. */
export interface RequestedFeatures {
  readonly model: string;
  readonly tools: boolean;
  readonly toolResult: boolean;
  readonly structured: boolean;
  readonly picture: boolean;
}

export type Scene =
  | { readonly kind: "text"; readonly pieces: readonly string[] }
  | { readonly kind: "tool"; readonly call: ScriptedCall }
  | { readonly kind: "fault"; readonly status: 400 | 429 | 500 | 503 | 529 };

export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Prompt text that makes every fake vendor call this tool; several are called in turn, one after each result. */
export function scripted(call: ScriptedCall): string {
  return `[[call ${call.name} ${Buffer.from(JSON.stringify(call.arguments)).toString("base64url")}]]`;
}

/** How each format marks a tool result. */
const RESULT = /"role":"tool"|"type":"(?:function|custom_tool)_call_output"|"type":"tool_result"|"functionResponse":|"toolResult":/g;

/** The next call that the prompt scripts; null if there is none or no more. */
function scriptedCall(body: unknown): ScriptedCall | null {
  const said = JSON.stringify(body);
  const calls = [...said.matchAll(/\[\[call ([\w-]+) ([\w-]+)\]\]/g)];
  const [, name, args] = calls[[...said.matchAll(RESULT)].length] ?? [];
  return name === undefined || args === undefined
    ? null
    : { name, arguments: JSON.parse(Buffer.from(args, "base64url").toString()) as Record<string, unknown> };
}

/** A model whose name ends in a status answers with it. `body`: the whole request. */
export function sceneOf(asked: RequestedFeatures, body: unknown): Scene {
  const status = /-(400|429|500|503|529)$/.exec(asked.model)?.[1];
  if (status !== undefined) return { kind: "fault", status: Number(status) as 400 | 429 | 500 | 503 | 529 };
  const call = scriptedCall(body);
  if (call !== null)
    return JSON.stringify(body).includes(`"name":"${call.name}"`) ? { kind: "tool", call } : { kind: "fault", status: 400 };
  if (asked.toolResult) return { kind: "text", pieces: ["It is ", "4 degrees."] };
  if (asked.tools) return { kind: "tool", call: TOOL };
  if (asked.structured) return { kind: "text", pieces: ['{"city":"Oslo",', '"degrees":4}'] };
  if (asked.picture) return { kind: "text", pieces: [PICTURE_TEXT] };
  return { kind: "text", pieces: WORDS };
}

/** A response of server-sent events; events without a name have only data. */
export function events(frames: readonly { readonly event?: string; readonly data: unknown }[], end = ""): Response {
  const text =
    frames.map(({ event, data }) => `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`).join("") + end;
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** Arguments as a model streams them, split inside a name. */
export function argumentPieces(call: ScriptedCall): readonly [string, string] {
  const text = JSON.stringify(call.arguments);
  return [text.slice(0, 4), text.slice(4)];
}
