import { createHash } from "node:crypto";
import type pg from "pg";

const names = new Map<string, string>();

/**
 * A statement that each connection plans once. For the few that run constantly with the same text: planning them over the partitions costs
 * as much as running them.
 */
export function prepared(text: string, values: readonly unknown[]): pg.QueryConfig {
  let name = names.get(text);
  if (name === undefined) {
    name = `gatehouse_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
    names.set(text, name);
  }
  return { name, text, values: [...values] };
}
