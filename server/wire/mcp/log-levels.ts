/** The log level for callers in the handshake dialect that never set one. */
export const DEFAULT_LOG_LEVEL = "info";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

export function isLogLevel(level: unknown): level is string {
  return LEVELS.includes(level as string);
}

/** Whether a message of `level` is at least as severe as `wanted`; unknown levels always are. */
export function logsAt(level: unknown, wanted: string): boolean {
  const at = LEVELS.indexOf(String(level));
  return at < 0 || at >= LEVELS.indexOf(wanted);
}
