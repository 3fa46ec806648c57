import { invalidField } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";
import type { FactWindow } from "../../store/compliance/fact-window.ts";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 400;

export interface RequestedWindow {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** A window in the past, so that its report does not change. */
export function reportWindowOf(directory: Pick<Directory, "clock">, tenantId: string, requested: RequestedWindow): FactWindow {
  const now = directory.clock.now();
  const to = requested.to === undefined ? now - (now % MINUTE_MS) : Date.parse(requested.to);
  const from = requested.from === undefined ? to - DEFAULT_DAYS * DAY_MS : Date.parse(requested.from);
  if (to > now) throw invalidField("to", "must not be in the future");
  if (from >= to) throw invalidField("from", "must be before to");
  if (from < 0) throw invalidField("from", "must not be before 1970");
  if (to - from > MAX_DAYS * DAY_MS) throw invalidField("from", `must be at most ${MAX_DAYS} days before to`);
  return { tenantId, from: new Date(from), to: new Date(to) };
}
