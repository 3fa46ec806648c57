import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import type { Refusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import { PartSlots } from "../../wire/a2a/part-slots.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import { isObject } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";

/** Says on the row that something could not be looked into, where something would have looked. */
export function noteUnreadable(
  call: Call,
  gates: Pick<Gates, "looksAt">,
  surface: GuardrailSurface,
  { unreadable }: Pick<PartSlots, "unreadable">,
): void {
  if (unreadable && gates.looksAt(call, surface)) call.row.guardrails_skipped = true;
}

/** A text of an agent's, by itself. */
export function saidSlot(text: string, owner: object): TextSlot & { text: string } {
  const slot = { role: "assistant" as const, kind: "text" as const, owner, text, replace: (other: string) => void (slot.text = other) };
  return slot;
}

/**
 * Has everything looked at that an agent says in one event; what may not be said is put otherwise in place. `before`: how what
 * went out of its artifact ended, which this goes on with.
 */
export async function lookedAt(call: Call, gates: Gates, event: AgentEvent, before = ""): Promise<Refusal | null> {
  const found = new PartSlots("assistant").event(event);
  const { artifact } = event.value;
  const slots = before === "" || !isObject(artifact) ? found.slots : [saidSlot(before, artifact), ...found.slots];
  const refusal = await gates.inspect(call, "a2a_outbound", slots);
  noteUnreadable(call, gates, "a2a_outbound", found);
  return refusal;
}
