import { refuse, type Refusal } from "../../kernel/errors.ts";
import type { Call } from "../call.ts";
import { sanitisedHeaders } from "./headers.ts";

export const LABELS_HEADER = "x-gw-labels";
const MAX_LABELS = 10;
const MAX_VALUE_LENGTH = 100;
const NAME = /^[a-z][a-z0-9_.-]{0,49}$/;
/** No control characters and none that turn text around. */
const VALUE = /^[^\p{Cc}\u2028-\u202e\u2066-\u2069]+$/u;

/**
 * Records in a call's row the labels by which its usage is reported, from a list `team=search,feature=short%20answers` as in W3C Baggage.
 * Returns a refusal if it is invalid, because the usage would silently be missing from reports.
 */
export function noteLabels(call: Call): Refusal | null {
  const given = call.headers.get(LABELS_HEADER);
  if (given === null || given.trim() === "") return null;
  const labels = new Map<string, string>();
  for (const pair of given.split(",")) {
    const problem = readInto(labels, pair);
    if (problem !== null) return refuse("invalid_header", undefined, { fields: [{ field: LABELS_HEADER, message: problem }] });
  }
  const { custom_metadata: others } = call.row;
  call.row.custom_metadata = { ...(others as object | null | undefined), labels: Object.fromEntries(labels) };
  return null;
}

/** Gives a call that is made for another one its labels, as it is paid for like that one. */
export function inheritLabels(parent: Call, call: Call): void {
  const { labels } = (parent.row.custom_metadata ?? {}) as { labels?: object };
  if (labels !== undefined) call.row.custom_metadata = { labels };
}

/** Adds a label, or returns what is wrong with it. */
function readInto(labels: Map<string, string>, pair: string): string | null {
  const at = pair.indexOf("=");
  const name = pair.slice(0, Math.max(at, 0)).trim();
  if (!NAME.test(name)) return "is a list name=value,name=value, whose names are 1 to 50 of a-z, 0-9, _, . and -, the first a letter";
  if (labels.has(name)) return `has ${name} twice`;
  if (labels.size === MAX_LABELS) return `has more than ${MAX_LABELS} labels`;
  const value = decoded(pair.slice(at + 1));
  if (value === null || value.length > MAX_VALUE_LENGTH || !VALUE.test(value))
    return `needs a value of 1 to ${MAX_VALUE_LENGTH} characters for ${name}, percent-encoded UTF-8`;
  if (sanitisedHeaders({ [LABELS_HEADER]: value })[LABELS_HEADER] !== value) return `has a credential as ${name}`;
  labels.set(name, value);
  return null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text).trim();
  } catch {
    return null;
  }
}
