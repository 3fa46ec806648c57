import type { TextSlot } from "../../wire/inbound.ts";

/** Groups adjoining texts of one role within a message, which a model reads as one text. Returns only groups of two or more. */
export function partsOfMessages(slots: readonly TextSlot[]): TextSlot[][] {
  const groups: TextSlot[][] = [];
  let group: TextSlot[] = [];
  // Groups of other roles in the current message; most messages have none.
  let others: TextSlot[][] | null = null;
  for (const slot of slots) {
    if (slot.owner === undefined || slot.kind !== "text") continue;
    const first = group[0];
    if (first?.owner !== slot.owner) {
      group = [slot];
      others = null;
    } else if (first?.role === slot.role) {
      if (group.push(slot) === 2) groups.push(group);
    } else {
      const other = others?.find((one) => one[0]?.role === slot.role);
      if (other === undefined) (others ??= []).push([slot]);
      else if (other.push(slot) === 2) groups.push(other);
    }
  }
  return groups;
}

/** The ways adjoining texts may be joined: directly, or with a space. */
export const PART_JOINTS = ["", " "] as const;

/** The texts as a model reads them, with the parts of each message joined. */
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

/** Whether the slot holds the name of a tool or speaker. */
export function isNameSlot({ kind }: Pick<TextSlot, "kind">): boolean {
  return kind === "name" || kind === "fixed_name";
}
