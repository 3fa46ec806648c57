const LF = 10;
const CR = 13;

/** Until the first keep-alive of a silent stream: servers send the headers with the first bytes. */
const FIRST_MS = 3_000;
/** Until the next keep-alive: load balancers and clients take a longer silence for a dead connection. */
const NEXT_MS = 15_000;

/**
 * Calls `say` with the keep-alive bytes `keepAlive` whenever an event stream has been silent for too long, but only between events. A null
 * `keepAlive` disables it. Uses one timer for the whole stream.
 */
export function streamKeepAlive(
  keepAlive: Uint8Array | null,
  say: (said: Uint8Array) => void,
  [firstMs, nextMs]: readonly [number, number] = [FIRST_MS, NEXT_MS],
): { told(piece: Uint8Array): void; stop(): void } {
  if (keepAlive === null) return { told: () => undefined, stop: () => undefined };
  let last: Uint8Array | null = null;
  let due = performance.now() + firstMs;
  const check = () => {
    const left = due - performance.now();
    if (left <= 0) {
      due = performance.now() + nextMs;
      if (last === null || endsAnEvent(last)) say(keepAlive);
    }
    timer = setTimeout(check, left <= 0 ? nextMs : left);
  };
  let timer = setTimeout(check, firstMs);
  return {
    told: (piece) => {
      last = piece;
      due = performance.now() + nextMs;
    },
    stop: () => clearTimeout(timer),
  };
}

/** Whether a piece ends with a blank line. */
function endsAnEvent(piece: Uint8Array): boolean {
  const [before, newest] = [piece.at(-2), piece.at(-1)];
  if (newest === LF && before === CR) return piece.at(-3) === LF || piece.at(-3) === CR;
  return (newest === LF || newest === CR) && (before === LF || before === CR);
}
