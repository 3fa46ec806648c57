import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../kernel/json-value.ts";
import { passedRequest } from "../../wire/realtime/session-settings.ts";

export interface PendingItem {
  readonly item: JsonObject;
  readonly after: string | null;
  readonly bytes: number;
}

const MAX_PENDING = 1_000;
const MAX_PENDING_BYTES = 16 * 1024 * 1024;

/** What the client said since the last response. */
export class PendingItems {
  all: readonly PendingItem[] = [];

  /** False if there is no room. */
  add(item: JsonObject, after: string | null): boolean {
    const bytes = JSON.stringify(item).length;
    const held = this.all.reduce((sum, { bytes: of }) => sum + of, 0);
    if (this.all.length >= MAX_PENDING || held + bytes > MAX_PENDING_BYTES) return false;
    // By its ID an item is found again in what the controls leave.
    this.all = [...this.all, { item: { id: `item_${randomBytes(10).toString("hex")}`, ...item }, after, bytes }];
    return true;
  }

  /** False if there is no such item. */
  remove(id: unknown): boolean {
    const kept = this.all.filter(({ item }) => item.id !== id);
    const isRemoved = kept.length < this.all.length;
    this.all = kept;
    return isRemoved;
  }

  drop(items: readonly PendingItem[]): void {
    this.all = this.all.filter((waiting) => !items.includes(waiting));
  }
}

/** The events by which the provider is asked for what the controls let pass. */
export function askingEvents(passed: string, given: JsonObject, isApart: boolean, pending: readonly PendingItem[]): JsonObject[] {
  const { settings, items } = passedRequest(passed);
  const conversation = given.conversation === undefined ? {} : { conversation: given.conversation };
  const response: JsonObject = { ...settings, ...conversation };
  if (isApart) return [{ type: "response.create", response: { ...response, input: [...items] } }];
  const created = items.map((item): JsonObject => {
    const after = pending.find((waiting) => waiting.item.id === item.id)?.after ?? null;
    return { type: "conversation.item.create", ...(after !== null && { previous_item_id: after }), item };
  });
  return [...created, { type: "response.create", response }];
}
