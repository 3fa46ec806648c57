import type { TextSlot } from "../wire/inbound.ts";

/** Texts in a row that are parts of one message, which its model reads as one: none stands alone. */
export function partsOfMessages(slots: readonly TextSlot[]): TextSlot[][] {
  const groups: TextSlot[][] = [];
  let group: TextSlot[] = [];
  let before: TextSlot | null = null;
  for (const slot of slots) {
    const goesOn =
      before !== null && slot.owner !== undefined && slot.owner === before.owner && slot.role === before.role && slot.kind === "text";
    if (!goesOn) {
      if (group.length > 1) groups.push(group);
      group = [];
    }
    if (slot.kind === "text") group.push(slot);
    before = slot;
  }
  if (group.length > 1) groups.push(group);
  return groups;
}

/** The ways in which texts that stand beside one another are read as one: run together, and as words of one line. */
export const PART_JOINTS = ["", " "] as const;

/** What a model reads, text by text: parts of one message are one. */
export function textsAsRead(slots: readonly TextSlot[]): Pick<TextSlot, "role" | "kind" | "text">[] {
  const first = new Map<TextSlot, string>();
  const others = new Set<TextSlot>();
  for (const group of partsOfMessages(slots)) {
    const [head, ...rest] = group;
    if (head !== undefined) first.set(head, group.map(({ text }) => text).join(""));
    for (const slot of rest) others.add(slot);
  }
  return slots
    .filter((slot) => !others.has(slot))
    .map((slot) => ({ role: slot.role, kind: slot.kind, text: first.get(slot) ?? slot.text }));
}

/** Whether it is the name of a tool or of who speaks. */
export function isNameSlot({ kind }: Pick<TextSlot, "kind">): boolean {
  return kind === "name" || kind === "fixed_name";
}
