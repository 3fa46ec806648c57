import { queries } from "@gatehouse/web-kit/app-frame.tsx";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { useEffect } from "react";
import { nextPause } from "./feed-pause.ts";
import { portalApi } from "./portal-client.ts";

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

const listeners = new Set<() => void>();

/** Resolves at the next event from the gateway, after `withinMs` at the latest, or when `signal` aborts. */
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

/**
 * Refreshes displayed data when the gateway reports changes. Connected only while the page is visible: a stream takes one of the few
 * connections that all tabs of a browser share.
 */
export function useLiveFeed(): void {
  useEffect(() => {
    const renew = () => {
      for (const listener of [...listeners]) listener();
      for (const key of ["notifications", "approvals", "alerts"]) void queries.invalidateQueries({ queryKey: [key] });
    };
    let wasOpen = false;
    const follow = async (signal: AbortSignal) => {
      for (let pause = 0; !signal.aborted; await wait(pause, signal)) {
        const begun = Date.now();
        try {
          const response = await portalApi.send("/v1/portal/events", { signal });
          const events = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
          for await (const { event } of events ?? []) {
            // The first event after a reconnect refreshes too, because events are lost while no stream is open.
            if (event !== "ready" || wasOpen) renew();
            wasOpen = true;
          }
        } catch {
          // The next attempt shows whether the failure was permanent.
        }
        pause = nextPause(pause, Date.now() - begun);
      }
    };
    let following: AbortController | null = null;
    const check = () => {
      if (document.visibilityState === "hidden") {
        following?.abort();
        following = null;
      } else if (following === null) {
        following = new AbortController();
        void follow(following.signal);
      }
    };
    check();
    document.addEventListener("visibilitychange", check);
    return () => {
      document.removeEventListener("visibilitychange", check);
      following?.abort();
    };
  }, []);
}
