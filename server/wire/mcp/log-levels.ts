/** What a caller of the handshake dialect gets that never said which logs it wants. */
export const DEFAULT_LOG_LEVEL = "info";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function isLogLevel(level: unknown): level is string {
  return LEVELS.includes(level as string);
}

/** Whether a log message of `level` is for somebody who asked for `wanted` and what is worse; a level nobody knows is. */
export function logsAt(level: unknown, wanted: string): boolean {
  const at = LEVELS.indexOf(String(level));
  return at < 0 || at >= LEVELS.indexOf(wanted);
}
