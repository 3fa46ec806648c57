import type { ScimCondition } from "../../directory/provisioning/scim-users.ts";
import type { ScimResourceType } from "../../wire/scim/attributes.ts";
import { parseFilter } from "../../wire/scim/filter.ts";
import { ScimError } from "../../wire/scim/scim-error.ts";
import { conditionOf } from "./conditions.ts";
import { MAX_RESULTS } from "./discovery.ts";

export interface ListQuery {
  readonly condition: ScimCondition | undefined;
  /** Starts at 1. */
  readonly startIndex: number;
  readonly page: { readonly limit: number; readonly offset: number };
}

const DEFAULT_RESULTS = 100;
const LAST_INDEX = 1_000_000_000;

/** The parameters of a list (RFC 7644, section 3.4.2): a start below 1 means 1, and a count of 0 returns only the total. */
export function listQuery(type: ScimResourceType, query: URLSearchParams): ListQuery {
  const startIndex = Math.min(Math.max(wholeNumber(query, "startIndex") ?? 1, 1), LAST_INDEX);
  const limit = Math.min(Math.max(wholeNumber(query, "count") ?? DEFAULT_RESULTS, 0), MAX_RESULTS);
  const filter = query.get("filter");
  return {
    condition: filter === null || filter.trim() === "" ? undefined : conditionOf(type, parseFilter(filter)),
    startIndex,
    page: { limit, offset: startIndex - 1 },
  };
}

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^-?\d{1,15}$/.test(text)) throw new ScimError(400, `${name} must be a whole number.`, "invalidValue");
  return Number(text);
}
