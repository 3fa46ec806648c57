import type { Call } from "../call.ts";

const RUN = /^(\/v1(?:\/portal)?\/runs\/)([^/]+)/;
/** What the gateway itself calls a run: what a caller's name for it comes to, or the id of its first call. */
const OWN_NAME = /^(?:[\da-f]{40}|[0-9A-HJKMNP-TV-Z]{26})$/;

/**
 * A path as a row may keep it for good. The hash covers it, so no erasure reaches it, and what a caller called a run is
 * the caller's word.
 */
export function recordablePath(path: string): string {
  return path.replace(RUN, (whole, before: string, name: string) => (OWN_NAME.test(name) ? whole : `${before}:run_id`));
}

/** Says on the row which run the path named. */
export function noteRunInPath({ row, path }: Call, rootTaskId: string): void {
  row.endpoint = path.replace(RUN, (_whole, before: string) => before + rootTaskId);
}
