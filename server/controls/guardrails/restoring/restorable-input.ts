import { randomInt } from "node:crypto";
import type { Call } from "../../../road/call.ts";
import type { Decision } from "../../../road/decision.ts";
import { contentWorkOf } from "../../../road/policy/content-work.ts";
import type { RequestView } from "../../../road/view.ts";
import type { EngineParts } from "../engines.ts";
import { GuardRun } from "../guard-run.ts";
import { guardInput } from "../input.ts";
import type { SurfaceGuard } from "../surface-guard.ts";
import { GivenPlaceholders } from "./given-placeholders.ts";
import { noteGivenPlaceholders } from "./restored-values.ts";

/** The first number of a request whose conversation is stored with placeholders of earlier requests, which it must not repeat. */
const RANDOM_FIRST = [1_000, 1_000_000] as const;

/** Whether values that the guard redacts in requests are put back into their answers. */
export function restoresAt({ surface, guard, engines }: SurfaceGuard): boolean {
  if (surface !== "chat_input") return false;
  return (
    guard.rules.some(({ restores }) => restores === true) || engines.some(({ restores, engine }) => restores && engine.action === "redact")
  );
}

/** The same for one call. The answers to lines of a batch are stored. */
export function isRestored({ audit }: Call, guard: SurfaceGuard): boolean {
  return audit.proxyType !== "batch" && restoresAt(guard);
}

/** Guards a request, and remembers its values for the answer. */
export async function guardInputRestorably(call: Call, view: RequestView, surface: SurfaceGuard, parts: EngineParts): Promise<Decision> {
  const placeholders = new GivenPlaceholders(view.continuesStored === true ? randomInt(...RANDOM_FIRST) : 1);
  for (const { text } of [...view.texts(), ...view.definitions()]) placeholders.noteOwn(text);
  const decision = await guardInput(call, view, new GuardRun(surface, contentWorkOf(call), placeholders.give), parts);
  if (placeholders.size > 0) noteGivenPlaceholders(call, placeholders);
  return decision;
}
