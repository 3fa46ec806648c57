import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import { errorText, idIn, messagesIn, readUpstreamRpc, REFUSED, errorMember } from "../../../wire/mcp/rpc.ts";
import { frameData } from "../../../wire/streams/sse-data.ts";
import { FrameCutter } from "../../../wire/streams/sse-frames.ts";
import { unclearMessage } from "../forwarding/unclear-message.ts";
import { type EditAnswer, frameOf, rewrittenEvent } from "./rpc-stream.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";

/** An asynchronous `EditAnswer`. */
export type JudgeAnswer = (message: Parameters<EditAnswer>[0]) => Promise<ReturnType<EditAnswer>>;

const NOTHING = new Uint8Array(0);

/**
 * Decides about everything else that a server sends: returns the text to pass on, or null to drop it. `value`: null if the text is not a
 * message.
 */
export type JudgeMessage = (message: { readonly text: string; readonly value: JsonObject | null }) => Promise<string | null>;

/**
 * A stream whose answers are judged asynchronously before they are passed on. Bytes stay unchanged, except that a batch of messages becomes
 * one event per message. `verdicts` maps the text of each message to its verdict. Every answer is judged, whatever its ID, because some
 * clients treat "1" and 1 as equal. `judgeMessage`: null if nothing but results needs to be inspected. `named` writes
 * event IDs as the caller may have them; null leaves them.
 */
export function judgedStream(
  body: ReadableStream<Uint8Array>,
  judge: JudgeAnswer,
  judgeMessage: JudgeMessage | null = null,
  named: ((frames: Uint8Array) => Uint8Array) | null = null,
): { readonly body: ReadableStream<Uint8Array>; readonly verdicts: ReadonlyMap<string, ReturnType<EditAnswer>> } {
  const reader = body.getReader();
  const cutter = new FrameCutter();
  const decoder = new TextDecoder();
  const verdicts = new Map<string, ReturnType<EditAnswer>>();
  /**
   * The message as it may appear in the stream. An ambiguous message (e.g. with duplicate names) is replaced by an error; one that only
   * lenient parsers accept as JSON (e.g. with NaN) is dropped.
   */
  const inspectText = (text: string): string | null | Promise<string | null> => {
    const value = readUpstreamRpc(text);
    if (value === null && /^\s*[{[]/.test(text)) return null;
    const unclear = value === null ? null : unclearMessage(text, value);
    if (value !== null && unclear !== null) {
      const id = idIn(null, value.id);
      const failed = errorText(id, { code: REFUSED, message: unclear.message, data: { code: unclear.code } });
      verdicts.set(failed, unclear);
      return failed;
    }
    if (value === null && text.trim() === "") return text;
    if (value === null || (value.result === undefined && (judgeMessage === null || errorMember(value) === null)))
      return judgeMessage === null ? text : judgeMessage({ text, value });
    return judge({ text, value }).then((verdict) => {
      verdicts.set(text, verdict);
      return text;
    });
  };
  const inspectedWhole = async (event: string, data: string, frame: Uint8Array): Promise<Uint8Array> => {
    const messages: string[] = [];
    for (const message of messagesIn(data)) {
      const inspected = await inspectText(message);
      if (inspected !== null) messages.push(inspected);
    }
    const last = messages.pop();
    return last === data ? frame : concat([...messages.map(frameOf), rewrittenEvent(event, last ?? "[]")]);
  };
  // A server may send very many events that need no inspection, so only those that do are awaited.
  const inspectedFrame = (frame: Uint8Array): Uint8Array | Promise<Uint8Array> => {
    const event = decoder.decode(frame);
    const data = frameData(event);
    if (data === null) return frame;
    if (data.trimStart().startsWith("[")) return inspectedWhole(event, data, frame);
    const inspectedData = inspectText(data);
    if (inspectedData === null) return NOTHING;
    const written = (text: string | null) => (text === null ? NOTHING : text === data ? frame : rewrittenEvent(event, text));
    return typeof inspectedData === "string" ? written(inspectedData) : inspectedData.then(written);
  };
  const judged = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // The previous chunk has been consumed, so its verdicts are no longer needed.
        verdicts.clear();
        for (;;) {
          const { done, value } = await reader.read();
          const frames = done ? [cutter.rest()].filter(({ byteLength }) => byteLength > 0) : cutter.push(value);
          const ready: Uint8Array[] = [];
          for (const frame of frames) {
            const one = inspectedFrame(frame);
            const passed = one instanceof Promise ? await one : one;
            ready.push(named === null ? passed : named(passed));
          }
          // Frames that arrived together are passed on together: enqueuing a chunk costs as much as many small events.
          if (ready.length > 0) controller.enqueue(concat(ready));
          if (done) controller.close();
          if (done || frames.length > 0) return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { body: judged, verdicts };
}
