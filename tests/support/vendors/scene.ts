/** What every fake vendor says, whatever format it says it in. */
export const WORDS = ["Grüße ", "aus ", "Oslo ", "👋"] as const;
export const TEXT = WORDS.join("");
export const PICTURE_TEXT = "A picture.";
export const TOOL = { name: "weather", arguments: { city: "Oslo" } } as const;
export const AFTER_TOOL = "It is 4 degrees.";
export const THOUGHT = "The user asks for the weather.";
/** What a vendor gives with its reasoning, and wants back unchanged in a tool loop. */
export const SIGNATURE = "c2lnbmF0dXJlLW9mLXRoZS1mYWtl";
export const STRUCTURED = { city: "Oslo", degrees: 4 } as const;
export const VECTORS: readonly (readonly number[])[] = [
  [0.5, -0.25, 0.125],
  [1, 0, -1],
];
export const COUNTED = 42;
export const USAGE = { input: 20, output: 8 } as const;

/** What a request asked for, as its format says it. */
export interface RequestedFeatures {
  readonly model: string;
  readonly tools: boolean;
  readonly toolResult: boolean;
  readonly structured: boolean;
  readonly picture: boolean;
}

export type Scene =
  | { readonly kind: "text"; readonly pieces: readonly string[] }
  | { readonly kind: "tool" }
  | { readonly kind: "fault"; readonly status: 400 | 429 | 500 };

/** A model whose name ends in a status answers with it. */
export function sceneOf(asked: RequestedFeatures): Scene {
  const status = /-(400|429|500)$/.exec(asked.model)?.[1];
  if (status !== undefined) return { kind: "fault", status: Number(status) as 400 | 429 | 500 };
  if (asked.toolResult) return { kind: "text", pieces: ["It is ", "4 degrees."] };
  if (asked.tools) return { kind: "tool" };
  if (asked.structured) return { kind: "text", pieces: ['{"city":"Oslo",', '"degrees":4}'] };
  if (asked.picture) return { kind: "text", pieces: [PICTURE_TEXT] };
  return { kind: "text", pieces: WORDS };
}

/** Frames of server-sent events; one without a name has only its data. */
export function events(frames: readonly { readonly event?: string; readonly data: unknown }[], end = ""): Response {
  const text =
    frames.map(({ event, data }) => `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`).join("") + end;
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** Arguments as a model streams them, cut inside a name. */
export const ARGUMENT_PIECES = ['{"ci', 'ty":"Oslo"}'] as const;
