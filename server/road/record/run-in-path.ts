import { decodedSegment } from "../../kernel/http/request-path.ts";
import type { Call } from "../call.ts";

const RUN = /^(\/v1(?:\/portal)?\/runs\/)([^/]+)/;
const WORDS = new Set(["v1", "portal", "runs"]);
/** What the gateway itself calls a run: what a caller's name for it comes to, or the id of its first call. */
const OWN_NAME = /^(?:[\da-f]{40}|[0-9A-HJKMNP-TV-Z]{26})$/;

/**
 * A path as a row may keep it for good. The hash covers it, so no erasure reaches it, and what a caller called a run is
 * the caller's word.
 */
export function recordablePath(path: string): string {
  return routedPath(path).replace(RUN, (whole, before: string, name: string) => (OWN_NAME.test(name) ? whole : `${before}:run_id`));
}

/** Records on the row the run that the path named. */
export function noteRunInPath({ row, path }: Call, rootTaskId: string): void {
  row.endpoint = routedPath(path).replace(RUN, (_whole, before: string) => before + rootTaskId);
}

/** The path of a run in the words that the router reads in it, which takes `/v1/%72uns/` for `/v1/runs/`; any other as it was sent. */
function routedPath(path: string): string {
  if (!path.includes("%")) return path;
  const read = path.replace(/[^/]+/g, (segment) => (WORDS.has(decodedSegment(segment)) ? decodedSegment(segment) : segment));
  return RUN.test(read) ? read : path;
}
