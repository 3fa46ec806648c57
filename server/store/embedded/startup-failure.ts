const COMPLAINT = /(?:FATAL|PANIC|ERROR|error): +(.*)/;
const ADVICE = /HINT: +(.*)/;

/** Summarises in one line why a PostgreSQL program failed: its first complaint, and the advice it gives. */
export function startupFailureReason(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const first = (pattern: RegExp) => lines.map((line) => pattern.exec(line)?.[1]).find((found) => found !== undefined);
  const complaint = first(COMPLAINT) ?? lines.at(-1)?.trim() ?? "it says nothing of why";
  const advice = first(ADVICE);
  return advice === undefined ? complaint : `${complaint} (${advice})`;
}
