import { reasonOf } from "../../kernel/errors.ts";
import type { CommandIo } from "../command-io.ts";
import { AdminApiError, type ConfigApi } from "./admin-api.ts";
import { carryOut } from "./apply.ts";
import type { Current } from "./current.ts";
import type { DocumentStep } from "./document-step.ts";
import type { KeysFile } from "./keys-file.ts";
import type { Step } from "./plan.ts";
import { documentText, stepText } from "./step-text.ts";
import { WhenThereIsRoom } from "./when-there-is-room.ts";

/** Carries out a plan, reporting each change. Resolves with the exit code; throws if a step fails. */
export async function applyPlan(
  steps: readonly Step[],
  documents: readonly DocumentStep[],
  api: ConfigApi,
  current: Current,
  keys: KeysFile | null,
  io: CommandIo,
): Promise<number> {
  const newKeys = steps.filter((step) => step.action === "create" && step.kind.section === "api_keys");
  if (newKeys.length > 0 && keys === null)
    throw new Error(
      `${newKeys.length} new API key${newKeys.length === 1 ? "" : "s"} will be shown this once: say where to with --keys-file FILE`,
    );
  if (newKeys.length > 0) keys?.prepare();
  let done = 0;
  const limits = new WhenThereIsRoom();
  const unwanted = new Map(steps.flatMap((step) => (step.action === "delete" ? [[step.id, step] as const] : [])));
  for (const step of steps.filter(({ action }) => action !== "delete")) await limits.do(() => one(step));
  for (const step of documents) await limits.do(() => write(step));
  await limits.again();
  for (const step of unwanted.values()) await one(step);
  await limits.again();
  limits.end();
  await io.stdout(done === 0 ? "Nothing was to be done.\n" : `${done} change${done === 1 ? "" : "s"} made.\n`);
  return 0;

  async function one(step: Step): Promise<void> {
    const work = () => at(`${step.kind.section} "${step.name}"`, () => carryOut(step, api, current, keys));
    if (step.action === "delete") unwanted.delete(step.id);
    const { changed } = await work().catch(async (error: Error) => {
      // A record to be deleted may have the name or address that the new one needs.
      const taken = step.action !== "delete" && error.cause instanceof AdminApiError ? error.cause.existingId : null;
      const inItsWay = unwanted.get(taken ?? "");
      if (inItsWay === undefined) throw error;
      await one(inItsWay).catch((refusal: Error) => removeAfterOthers(inItsWay, refusal));
      return work();
    });
    if (changed) await printAnswer(stepText(step));
  }

  /** The records it is still used by may be about to be deleted too. */
  async function removeAfterOthers(step: Extract<Step, { action: "delete" }>, refusal: Error): Promise<void> {
    if (!(refusal.cause instanceof AdminApiError) || refusal.cause.code !== "in_use") throw refusal;
    const before = steps.slice(0, steps.indexOf(step)).filter((other) => other.action === "delete" && unwanted.has(other.id));
    if (before.length === 0) throw refusal;
    for (const other of [...before, step]) await one(other);
  }

  async function write(step: DocumentStep): Promise<void> {
    const answer = await at(step.about, () => step.send(current.names));
    if (step.isSeen !== false || answer["updated_at"] !== step.updatedAt) await printAnswer(documentText(step));
  }

  async function printAnswer(text: string): Promise<void> {
    await io.stdout(text);
    done++;
  }
}

async function at<T>(about: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const next =
      error instanceof AdminApiError && error.code === "conflict"
        ? "Was it made meanwhile, as by another apply? What was done before stays; apply the file again."
        : "What was done before stays; apply the file again once this is mended.";
    throw new Error(`${about}: ${reasonOf(error)}\n${next}`, { cause: error });
  }
}
