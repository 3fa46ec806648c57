import { answers, readUpstreamRpc, type RpcId } from "../../wire/mcp/rpc.ts";
import { FrameCutter, frameData } from "../../wire/sse-frames.ts";
import type { EditAnswer } from "./rpc-stream.ts";

/** The same as editing an answer, where it takes time. */
export type JudgeAnswer = (message: Parameters<EditAnswer>[0]) => Promise<ReturnType<EditAnswer>>;

/**
 * A stream whose answers are judged before anybody reads them, where judging takes time: its bytes stay as they are,
 * and `verdicts` tells by the text of a message what came of it. `id` null: any answer may be in it.
 */
export function judgedStream(body: ReadableStream<Uint8Array>, id: RpcId | null, judge: JudgeAnswer): { readonly body: ReadableStream<Uint8Array>; readonly verdicts: ReadonlyMap<string, ReturnType<EditAnswer>> } {
  const reader = body.getReader();
  const cutter = new FrameCutter();
  const decoder = new TextDecoder();
  const verdicts = new Map<string, ReturnType<EditAnswer>>();
  const look = async (frame: Uint8Array) => {
    const text = frameData(decoder.decode(frame));
    const value = text === null ? null : readUpstreamRpc(text);
    if (text !== null && value !== null && value.result !== undefined && (id === null || answers(value, id))) verdicts.set(text, await judge({ text, value }));
  };
  const judged = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // What was handed on before has been read.
        verdicts.clear();
        for (;;) {
          const { done, value } = await reader.read();
          const frames = done ? [cutter.rest()].filter(({ byteLength }) => byteLength > 0) : cutter.push(value);
          for (const frame of frames) await look(frame);
          for (const frame of frames) controller.enqueue(frame);
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
