import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import type { Refusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import { PartSlots } from "../../wire/a2a/part-slots.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";

/** Says on the row that something could not be looked into, where something would have looked. */
export function noteUnreadable(
  call: Call,
  gates: Pick<Gates, "looksAt">,
  surface: GuardrailSurface,
  { unreadable }: Pick<PartSlots, "unreadable">,
): void {
  if (unreadable && gates.looksAt(call, surface)) call.row.guardrails_skipped = true;
}

/** Has everything looked at that an agent says in one event; what may not be said is put otherwise in place. */
export async function lookedAt(call: Call, gates: Gates, event: AgentEvent): Promise<Refusal | null> {
  const found = new PartSlots("assistant").event(event);
  const refusal = await gates.inspect(call, "a2a_outbound", found.slots);
  noteUnreadable(call, gates, "a2a_outbound", found);
  return refusal;
}
