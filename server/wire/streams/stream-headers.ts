/** Headers of every streamed answer: no cache stores it, and no proxy holds its pieces back. */
export const UNBUFFERED = { "cache-control": "no-cache", "x-accel-buffering": "no" } as const;

/** Headers of a stream of server-sent events. */
export const EVENT_STREAM_HEADERS: Readonly<Record<string, string>> = { "content-type": "text/event-stream", ...UNBUFFERED };
