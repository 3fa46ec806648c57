import type { ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { type InTurns, inTurns } from "../../kernel/scheduling/in-turns.ts";
import type { Governance } from "../../road/policy/compiled-governance.ts";
import type { TextSlot } from "../../wire/inbound.ts";
import { replaceLeaves } from "../../wire/json/json-leaves.ts";
import { estimateTokens } from "../../wire/usage.ts";
import { repeatedNameRefusal } from "../../road/request/repeated-name-refusal.ts";
import type { Call } from "../../road/call.ts";
import { contentWorkOf, TOO_MUCH_WORK } from "../../road/policy/content-work.ts";
import type { RequestControl } from "../../road/control.ts";
import { type Decision, PASS, refused } from "../../road/decision.ts";
import { isNameSlot, PART_JOINTS, partsOfMessages } from "../../road/request/message-parts.ts";
import type { RequestView } from "../../road/view.ts";
import { noteClamped } from "../../road/record/clamped.ts";
import { DEFAULT_TEMPERATURE, governanceOf } from "../../road/policy/parameter-governance.ts";
import { asksForText, modelOf, isStoredResult } from "../../road/target.ts";

/** Parameter governance (interface 8.3): ceilings, tools, mandatory fragments, banned patterns. */
export const parameters: RequestControl = {
  name: "parameters",
  decide(call, view) {
    const model = modelOf(call);
    if (model === null || call.scope === null || isStoredResult(view.target)) return PASS;
    const rules = governanceOf(call, model);
    if (rules.none) return PASS;
    const unclear = repeatedNameRefusal(view);
    if (unclear !== null) return refused(unclear);
    const added = rules.prepend.length + rules.append.length > 0;
    if (view.opaque && (added || rules.bannedPatterns.length > 0))
      return refused(rejected(view.names.input, "must be text in this resource group, because its texts are looked at and added to"));
    // Banned patterns apply to the caller's text, not to the fragments that governance adds.
    const inspection = inTurns(banned(call, view, rules), contentWorkOf(call));
    const held = (refusal: Refusal | null) => (refusal === null ? bounded(call, view, rules, model) : refused(refusal));
    return inspection instanceof Promise ? inspection.then(held) : held(inspection);
  },
};

function bounded(call: Call, view: RequestView, rules: Governance, model: ModelEntry): Decision {
  const generates = asksForText(view.target);
  const refusal =
    (generates ? temperature(call, view, rules, model) : null) ??
    inputTokens(view, rules) ??
    (generates ? outputTokens(call, view, rules, model.defaultMaxTokens) : null) ??
    kept(view, rules) ??
    tools(call, view, rules);
  if (refusal !== null) return refused(refusal);
  if (rules.prepend.length + rules.append.length > 0 && generates) view.addInstructions(rules.prepend, rules.append);
  return PASS;
}

function rejected(parameter: string, words: string): Refusal {
  return refuse("parameter_rejected", undefined, { fields: [{ field: parameter, message: words }], reason: `${parameter} ${words}` });
}

function temperature(
  call: Call,
  view: RequestView,
  rules: Governance,
  { defaultTemperature, supportsSampling }: ModelEntry,
): Refusal | null {
  const { maxTemperature } = rules;
  if (maxTemperature === null || (view.temperature ?? defaultTemperature ?? DEFAULT_TEMPERATURE) <= maxTemperature) return null;
  // A model without sampling parameters would reject a request that sets them.
  if (view.temperature === null && !supportsSampling) return null;
  if (view.temperature !== null && rules.rejectTemperature)
    return rejected(view.names.temperature, `must be at most ${maxTemperature} in this resource group`);
  view.temperature = maxTemperature;
  noteClamped(call, "temperature");
  return null;
}

function inputTokens(view: RequestView, rules: Governance): Refusal | null {
  // An input cannot be shortened without changing what is asked, so this ceiling refuses in either mode.
  if (rules.maxInputTokens === null) return null;
  // Models read text files and definitions in full, so their text counts as input like a message's.
  const written = Math.max(view.inputCharacters, lengthOf(view.texts()));
  const input = estimateTokens(written + lengthOf(view.definitions()));
  if (input > rules.maxInputTokens)
    return rejected(view.names.input, `must be at most ${rules.maxInputTokens} tokens in this resource group (about ${input})`);
  return null;
}

const lengthOf = (slots: readonly TextSlot[]) => slots.reduce((sum, slot) => sum + (isNameSlot(slot) ? 0 : slot.text.length), 0);

function outputTokens(call: Call, view: RequestView, rules: Governance, modelDefault: number | null): Refusal | null {
  const most = rules.maxOutputTokens;
  if (most === null || view.unbounded) return null;
  const requestedTokens = view.maxTokens ?? modelDefault;
  if (requestedTokens !== null && requestedTokens <= most) return null;
  if (view.maxTokens !== null && rules.rejectTokens)
    return rejected(view.names.maxTokens, `must be at most ${most} in this resource group`);
  view.maxTokens = most;
  noteClamped(call, "max_tokens");
  return null;
}

/** Refuses objects kept by the provider, because the gateway can see neither their owner nor the tools they bring. */
function kept(view: RequestView, rules: Governance): Refusal | null {
  const [id] = rules.refusesVendorIds ? (view.vendorIds ?? []) : [];
  if (id !== undefined) return rejected(id, "must name nothing that the provider keeps, in this resource group");
  const ruled = rules.toolMode === "deny" || rules.allowedTools !== null || rules.blockedTools.size > 0;
  const [template] = ruled ? (view.vendorTemplates ?? []) : [];
  return template === undefined ? null : rejected(template, "may bring tools of its own, and this resource group has rules about tools");
}

function tools(call: Call, view: RequestView, rules: Governance): Refusal | null {
  if (view.tools.length === 0) return null;
  if (rules.toolMode === "deny") return refuse("tools_not_allowed");
  const gone = new Set(
    view.tools.filter((name) => rules.blockedTools.has(name) || (rules.allowedTools !== null && !rules.allowedTools.has(name))),
  );
  if (gone.size === 0) return null;
  view.removeTools(gone);
  call.row.llm_function_calling = view.tools.length > 0;
  noteClamped(call, "tools");
  return null;
}

/** Every text by itself, the joined parts of each message, and the texts and names of definitions. */
function writtenIn(view: RequestView): string[] {
  const slots = view.texts();
  const joined = partsOfMessages(slots).flatMap((parts) => PART_JOINTS.map((joint) => parts.map(({ text }) => text).join(joint)));
  return [...slots.flatMap(readings), ...joined, ...view.definitions().map(({ text }) => text)];
}

/** A text as written; escaped tool arguments also in their parsed form. */
function readings({ kind, text }: TextSlot): string[] {
  const read = [text];
  if (kind === "arguments" && text.includes("\\"))
    replaceLeaves(text, (leaf) => {
      read.push(leaf);
      return leaf;
    });
  return read;
}

function* banned(call: Call, view: RequestView, { bannedPatterns }: Governance): InTurns<Refusal | null> {
  if (bannedPatterns.length === 0) return null;
  call.row.guardrail_blocked ??= false;
  const work = contentWorkOf(call);
  for (const text of writtenIn(view)) {
    for (const pattern of bannedPatterns) {
      const stands = yield* pattern.standsIn(text, work);
      if (stands === false) continue;
      Object.assign(call.row, { guardrail_blocked: true, guardrail_check: "banned_pattern", guardrail_action: "block" });
      const message = stands
        ? "The request holds text that the resource group bans."
        : "The request could not be looked at for text that the resource group bans, so it was blocked.";
      return refuse("guardrail_blocked", message, {
        extra: { guardrail: "parameter governance", check: "banned_pattern", direction: "input" },
        ...(stands ? {} : { reason: TOO_MUCH_WORK }),
      });
    }
  }
  return null;
}
