import { isObject, type JsonValue } from "../../wire/document.ts";
import type { TextSlot } from "../../wire/inbound.ts";

/** Every text, whole number and name at or below `holder[key]`, in order; a name behind what it names. */
export function collectSlots(
  holder: Record<string, JsonValue | undefined> | JsonValue[],
  key: string | number,
  slots: TextSlot[],
  changed: () => void,
): void {
  const at = holder as Record<string | number, JsonValue | undefined>;
  const value = at[key];
  if (typeof value === "string" || Number.isSafeInteger(value)) {
    slots.push({
      role: "tool",
      kind: "text",
      get text() {
        return String(at[key]);
      },
      replace(text) {
        at[key] = text;
        changed();
      },
    });
  } else if (Array.isArray(value)) value.forEach((_, index) => collectSlots(value, index, slots, changed));
  else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      collectSlots(value, name, slots, changed);
      slots.push(memberNameSlot(value as Record<string, JsonValue | undefined>, name, changed));
    }
  }
}

export function memberNameSlot(holder: Record<string, JsonValue | undefined>, text: string, changed: () => void): TextSlot {
  return {
    role: "tool",
    kind: "text",
    text,
    replace(name) {
      const value = holder[text];
      delete holder[text];
      holder[name] = value;
      changed();
    },
  };
}
