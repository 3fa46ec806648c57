import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import type { Refusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import { PartSlots } from "../../wire/a2a/part-slots.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import { isObject } from "../../kernel/json-value.ts";
import type { TextSlot } from "../../wire/inbound.ts";

/** Records on the row that content could not be inspected although a guardrail or policy would have looked at it. */
export function noteUnreadable(
  call: Call,
  gates: Pick<Gates, "inspects">,
  surface: GuardrailSurface,
  { unreadable }: Pick<PartSlots, "unreadable">,
): void {
  if (unreadable && gates.inspects(call, surface)) call.row.guardrails_skipped = true;
}

/** A text from an agent as a text slot with its own replacement. */
export function textSlotOf(text: string, owner: object): TextSlot & { text: string } {
  const slot = { role: "assistant" as const, kind: "text" as const, owner, text, replace: (other: string) => void (slot.text = other) };
  return slot;
}

/**
 * Runs the gates over everything an agent says in one event, replacing texts in place. `before`: the end of the artifact text already sent,
 * which this event continues. Returns a refusal if the event may not be sent.
 */
export async function inspectEvent(call: Call, gates: Gates, event: AgentEvent, before = ""): Promise<Refusal | null> {
  const found = new PartSlots("assistant").event(event);
  const { artifact } = event.value;
  const slots = before === "" || !isObject(artifact) ? found.slots : [textSlotOf(before, artifact), ...found.slots];
  const refusal = await gates.inspect(call, "a2a_outbound", slots);
  noteUnreadable(call, gates, "a2a_outbound", found);
  return refusal;
}
