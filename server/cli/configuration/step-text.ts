import type { Difference } from "./differences.ts";
import type { DocumentStep } from "./document-step.ts";
import type { Step } from "./plan.ts";
import { valueText, type ConfigValue } from "./value.ts";

const SIGNS = { create: "+", change: "~", delete: "-" } as const;

export function stepText(step: Step): string {
  const head = `${SIGNS[step.action]} ${step.kind.section} "${step.name}"\n`;
  if (step.action !== "change") return head;
  const isSecret = ({ member, before, after }: Difference) =>
    step.kind.secrets?.includes(member) === true && before === null && after === null;
  return `${head}${step.differences
    .map((one) => `    ${one.member}: ${isSecret(one) ? "another secret" : `${short(one.before)} -> ${short(one.after)}`}\n`)
    .join("")}`;
}

export function documentText({ about, before, after, isSecretAlone }: DocumentStep): string {
  return isSecretAlone === true ? `~ ${about}: another secret\n` : `~ ${about}: ${short(before)} -> ${short(after)}\n`;
}

const MAX_LENGTH = 200;

function short(value: ConfigValue): string {
  const text = JSON.stringify(value) ?? valueText(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
}
