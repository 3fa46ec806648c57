import { objectInJson } from "../../kernel/json-value.ts";
import { filledOf, objectOf } from "../../wire/openai/loose-fields.ts";
import { frameData } from "../../wire/streams/sse-data.ts";
import { FrameCutter } from "../../wire/streams/sse-frames.ts";
import { plausibleCount } from "../../wire/usage.ts";
import type { ClientSocket } from "./client-socket.ts";
import type { RealtimeConnection } from "./realtime-connection.ts";

const decoder = new TextDecoder();

/**
 * Sends what passed the controls, and each part's audio once its transcript did. Resolves to the tokens that the conversation had at the
 * end, if the provider reported them. `created` is told the response's ID.
 */
export async function forward(
  body: ReadableStream<Uint8Array>,
  client: ClientSocket,
  connection: RealtimeConnection,
  created: (id: string | null) => void,
): Promise<number | null> {
  const cutter = new FrameCutter();
  let isDone = false;
  let tokens: number | null = null;
  try {
    for await (const piece of body)
      for (const frame of cutter.push(piece)) {
        const event = objectInJson(frameData(decoder.decode(frame)) ?? "");
        if (event === null) continue;
        const type = filledOf(event.type) ?? "";
        if (type === "response.created") created(filledOf(objectOf(event.response)?.id));
        const total = objectOf(objectOf(event.response)?.usage)?.total_tokens;
        if (typeof total === "number") tokens = plausibleCount(total);
        isDone ||= type === "response.done" && objectOf(event.response)?.status !== "failed";
        client.tell(event);
        const audio = type.endsWith("transcript.done") ? connection.audio.released(event) : [];
        for (const spoken of audio) {
          await client.room();
          client.tell(spoken);
        }
        await client.room();
      }
  } catch {
    // The row is written; the client is told by the connection's end.
  }
  if (!isDone) connection.forget();
  return tokens;
}
