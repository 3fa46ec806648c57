import { decodedSegment } from "../../kernel/http/request-path.ts";

const PREFIX = "/models/";

/** The model in a path: between `/models/` and the last colon; names may contain slashes and colons. */
export function modelOfPath(path: string): string {
  const named = path.slice(path.indexOf(PREFIX) + PREFIX.length);
  const colon = named.lastIndexOf(":");
  return decodedSegment(colon < 0 ? named : named.slice(0, colon));
}
