/** Structured operational log: one JSON object per line on standard error. Never pass it bodies, keys or header values. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined | Error>>;

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export function jsonLog(level: LogLevel, write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const floor = LOG_LEVELS.indexOf(level);
  const at =
    (name: LogLevel) =>
    (event: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(name) < floor) return;
      const entry: Record<string, unknown> = { time: new Date().toISOString(), level: name, event };
      for (const [key, value] of Object.entries(fields)) {
        entry[key] = value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;
      }
      write(`${JSON.stringify(entry)}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
