import type { Call } from "../call.ts";

export const CLAMPED_HEADER = "x-gw-parameters-clamped";

/** Records on the row and in the answer headers that a parameter was changed. */
export function noteClamped(call: Call, parameter: string): void {
  const known = call.answerHeaders[CLAMPED_HEADER];
  if (known?.split(", ").includes(parameter)) return;
  const names = known === undefined ? parameter : `${known}, ${parameter}`;
  call.answerHeaders[CLAMPED_HEADER] = names;
  call.row.custom_metadata = { ...(call.row.custom_metadata as Record<string, unknown> | null | undefined), parameters_clamped: names };
}
