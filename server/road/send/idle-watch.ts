/**
 * Calls `fire` when a wait lasts longer than `ms`. Uses one timer for the whole stream, because a timer for each piece would cost more than
 * the piece.
 */
export function idleWatch(ms: number, fire: () => void): { wait(): void; pause(): void; stop(): void } {
  let since: number | null = null;
  const check = () => {
    const left = since === null ? ms : since + ms - performance.now();
    if (left <= 0) fire();
    else timer = setTimeout(check, left);
  };
  let timer = setTimeout(check, ms);
  return {
    wait: () => {
      since = performance.now();
    },
    pause: () => {
      since = null;
    },
    stop: () => clearTimeout(timer),
  };
}
