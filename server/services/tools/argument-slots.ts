import { isRawJson } from "../../kernel/text/exact-numbers.ts";
import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { isWhole } from "../../wire/json/json-numbers.ts";
import { renameMember } from "../../wire/json/rename-member.ts";

/**
 * Collects every text, whole number and member name at or below `holder[key]` in document order, each name after its value. `exact`: the
 * same value with numbers beyond double precision kept as raw JSON.
 */
export function collectSlots(
  holder: Record<string, JsonValue | undefined> | JsonValue[],
  key: string | number,
  slots: TextSlot[],
  changed: () => void,
  exact?: unknown,
): void {
  const at = holder as Record<string | number, JsonValue | undefined>;
  const value = at[key];
  const digits = isRawJson(exact) ? JSON.stringify(exact) : null;
  if (typeof value === "string" || Number.isSafeInteger(value) || (digits !== null && isWhole(digits))) {
    slots.push({
      role: "tool",
      kind: "text",
      get text() {
        return digits !== null && at[key] === value ? digits : String(at[key]);
      },
      replace(text) {
        at[key] = text;
        changed();
      },
    });
  } else if (Array.isArray(value)) value.forEach((_, index) => collectSlots(value, index, slots, changed, exactAt(exact, index)));
  else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      collectSlots(value, name, slots, changed, exactAt(exact, name));
      slots.push(memberNameSlot(value as Record<string, JsonValue | undefined>, name, changed));
    }
  }
}

/** The member of `exact`; undefined if no number below it lost precision. */
export function exactAt(exact: unknown, key: string | number): unknown {
  return typeof exact === "object" && exact !== null ? (exact as Record<string | number, unknown>)[key] : undefined;
}

export function memberNameSlot(holder: Record<string, JsonValue | undefined>, text: string, changed: () => void): TextSlot {
  return {
    role: "tool",
    kind: "text",
    text,
    replace(name) {
      renameMember(holder, text, name);
      changed();
    },
  };
}
