import { queries } from "@gatehouse/web-kit/app-frame.tsx";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { useEffect } from "react";
import { portalApi } from "./portal-client.ts";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

const listeners = new Set<() => void>();

/** Resolves when the gateway tells of something, and at the latest after so long or when it is no longer waited for. */
export async function nextFeedEvent(withinMs: number, signal: AbortSignal): Promise<void> {
  const stop = new AbortController();
  const leave = () => stop.abort();
  listeners.add(leave);
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  await wait(withinMs, stop.signal);
  signal.removeEventListener("abort", leave);
  listeners.delete(leave);
}

/** What is on the screen is renewed when the gateway tells of something new. A stream that ends is opened again, later each time. */
export function useLiveFeed(): void {
  useEffect(() => {
    const stop = new AbortController();
    const renew = () => {
      for (const listener of [...listeners]) listener();
      for (const key of ["notifications", "approvals", "alerts"]) void queries.invalidateQueries({ queryKey: [key] });
    };
    const follow = async () => {
      let pause = FIRST_WAIT_MS;
      let wasOpen = false;
      while (!stop.signal.aborted) {
        try {
          const response = await portalApi.send("/v1/portal/events", { signal: stop.signal });
          const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
          for await (const { event } of events ?? []) {
            pause = FIRST_WAIT_MS;
            // What came while no stream was open is told by none.
            if (event !== "ready" || wasOpen) renew();
            wasOpen = true;
          }
        } catch {
          // The next try tells whether it was for good.
        }
        await wait(pause, stop.signal);
        pause = Math.min(pause * 2, LONGEST_WAIT_MS);
      }
    };
    void follow();
    return () => stop.abort();
  }, []);
}
