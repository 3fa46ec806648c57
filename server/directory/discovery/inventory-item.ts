import type { DiscoveredType } from "@gatehouse/contracts/discovery";
import { withoutSteering } from "@gatehouse/contracts/conventions";
import { isObject } from "../../kernel/json-value.ts";
import { isStorableText } from "../../kernel/text/storable.ts";

/** One asset named by an inventory. */
export interface InventoryItem {
  readonly asset_type: DiscoveredType;
  readonly name: string;
  readonly version: string | null;
  readonly endpoints: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  /** What identifies the item when it is imported again. */
  readonly key: readonly (string | null)[];
  readonly device_id: string | null;
  readonly device_name: string | null;
  readonly seen_at: Date | null;
}

export interface Inventory {
  readonly items: InventoryItem[];
  readonly skipped: { readonly item: string; readonly reason: string }[];
}

/** The file is not in the declared format; the message says how. */
export class InvalidInventory extends Error {}

export const MAX_ITEMS = 50_000;
const MAX_LENGTH = 200;
const MAX_ENDPOINTS = 10;

/** A text that can be stored and shown; null if it is not a string, empty, too long or not storable. */
export function truncatedText(value: unknown, longest = MAX_LENGTH): string | null {
  if (typeof value !== "string" || !isStorableText(value)) return null;
  const text = withoutSteering(value).trim();
  return text === "" || text.length > longest ? null : text;
}

/** Web addresses without the parts that may hold secrets: user, query and fragment. */
export function endpointsOf(values: readonly unknown[]): string[] {
  const found = values.flatMap((value) => {
    const text = truncatedText(value, 2000);
    if (text === null || !URL.canParse(text)) return [];
    const { protocol, origin, pathname } = new URL(text);
    return /^https?:$/.test(protocol) && origin.length + pathname.length <= 500 ? [`${origin}${pathname === "/" ? "" : pathname}`] : [];
  });
  return [...new Set(found)].slice(0, MAX_ENDPOINTS);
}

export const asRecord = (value: unknown): Readonly<Record<string, unknown>> | null => (isObject(value) ? value : null);

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
