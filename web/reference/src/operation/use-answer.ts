import { useEffect, useRef, useState } from "react";
import { laidOut } from "./laid-out.ts";

/** A response, complete or so far. */
export interface ShownAnswer {
  readonly status: number | null;
  readonly statusText: string;
  /** Milliseconds until it was complete; null before that. */
  readonly took: number | null;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
  /** Number of characters not shown. */
  readonly left: number;
  /** Content that is not text. */
  readonly file: Blob | null;
  readonly problem: string | null;
  readonly isDone: boolean;
}

const NONE: ShownAnswer = {
  status: null,
  statusText: "",
  took: null,
  headers: [],
  text: "",
  left: 0,
  file: null,
  problem: null,
  isDone: false,
};
const MAX_SHOWN = 400_000;
const IS_TEXT = /json|text|xml|javascript|^$/;

const shown = (text: string) => ({ text: text.slice(0, MAX_SHOWN), left: Math.max(text.length - MAX_SHOWN, 0) });

/** Sends one request at a time and shows the response, a stream as it arrives. */
export function useAnswer() {
  const [answer, setAnswer] = useState<ShownAnswer | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const stop = () => running.current?.abort();

  async function send(make: () => Promise<Request>): Promise<void> {
    stop();
    const own = new AbortController();
    running.current = own;
    const began = performance.now();
    const say = (more: Partial<ShownAnswer>) => {
      if (running.current === own) setAnswer((before) => ({ ...(before ?? NONE), ...more }));
    };
    setAnswer(NONE);
    try {
      const response = await fetch(await make(), { signal: own.signal });
      say({ status: response.status, statusText: response.statusText, headers: [...response.headers] });
      const media = response.headers.get("content-type") ?? "";
      if (IS_TEXT.test(media)) await readText(response, media, say);
      else say({ file: await response.blob() });
    } catch (error) {
      const isStopped = own.signal.aborted;
      say({ problem: isStopped ? "Stopped." : `There was no answer: ${error instanceof Error ? error.message : String(error)}` });
    }
    say({ took: performance.now() - began, isDone: true });
  }
  return { answer, isRunning: answer !== null && !answer.isDone, send, stop };
}

async function readText(response: Response, media: string, say: (more: Partial<ShownAnswer>) => void): Promise<void> {
  let text = "";
  let frame = 0;
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) break;
    text += piece.value;
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      say(shown(text));
    });
  }
  cancelAnimationFrame(frame);
  say(shown(media.includes("json") ? laidOut(text) : text));
}
