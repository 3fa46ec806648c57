import type { Slice } from "./slice.ts";

/** A target answered wrongly or not at all. */
export class CallsFailed extends Error {}

export function mustBeClean(stage: string, slice: Slice): Slice {
  if (slice.errors > 0)
    throw new CallsFailed(
      `${stage}: ${slice.errors} of ${slice.calls + slice.errors} calls failed (${[...new Set(slice.messages)].join("; ")})`,
    );
  if (slice.calls === 0) throw new CallsFailed(`${stage}: no call was answered`);
  return slice;
}
