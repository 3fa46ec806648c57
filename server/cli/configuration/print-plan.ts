import type { CommandIo } from "../command-io.ts";
import type { DocumentStep } from "./document-step.ts";
import type { Step } from "./plan.ts";
import { stepText, documentText } from "./step-text.ts";

const TO_DO = 2;

export async function printPlan(steps: readonly Step[], documents: readonly DocumentStep[], io: CommandIo): Promise<number> {
  const seen = steps.filter((step) => step.action !== "change" || step.differences.some(({ isSeen }) => isSeen));
  for (const step of seen) await io.stdout(stepText(step));
  const seenDocuments = documents.filter(({ isSeen }) => isSeen !== false);
  for (const step of seenDocuments) await io.stdout(documentText(step));
  if (seen.length + seenDocuments.length > 0) return TO_DO;
  await io.stdout("Nothing is to be done.\n");
  return 0;
}
