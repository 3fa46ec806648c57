import { decodedSegment } from "../../kernel/http/request-path.ts";
import type { Call } from "../call.ts";

const RUN = /^(\/v1(?:\/portal)?\/runs\/)([^/]+)/;
const WORDS = new Set(["v1", "portal", "runs"]);
/** Run IDs made by the gateway: the hash of a caller's run ID, or the ID of the run's first call. */
const OWN_NAME = /^(?:[\da-f]{40}|[0-9A-HJKMNP-TV-Z]{26})$/;

/**
 * The path as a row may store it permanently. It is covered by the row's hash and cannot be erased, so a run ID chosen by the caller is
 * replaced.
 */
export function recordablePath(path: string): string {
  return routedPath(path).replace(RUN, (whole, before: string, name: string) => (OWN_NAME.test(name) ? whole : `${before}:run_id`));
}

/** Records on the row the run that the path named. */
export function noteRunInPath({ row, path }: Call, rootTaskId: string): void {
  row.endpoint = routedPath(path).replace(RUN, (_whole, before: string) => before + rootTaskId);
}

/** A run's path as the router reads it, which takes `/v1/%72uns/` for `/v1/runs/`; other paths are unchanged. */
function routedPath(path: string): string {
  if (!path.includes("%")) return path;
  const read = path.replace(/[^/]+/g, (segment) => (WORDS.has(decodedSegment(segment)) ? decodedSegment(segment) : segment));
  return RUN.test(read) ? read : path;
}
