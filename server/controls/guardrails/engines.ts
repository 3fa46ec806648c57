import type { GuardrailEngineEntry } from "../../directory/policies/guardrail-entry.ts";
import { type InTurns, inTurns } from "../../kernel/scheduling/in-turns.ts";
import { CLEAR, type Engine, type EngineValue, type EngineVerdict } from "../../wire/guardrail-engine.ts";
import type { Call } from "../../road/call.ts";
import type { AskModel } from "../../road/own-calls/model-question.ts";
import { FoundValues } from "./found-values.ts";
import { guardModel } from "./guard-model.ts";
import type { GuardRun } from "./guard-run.ts";
import { isPlaceholder, placeholderForm } from "./restoring/placeholder-form.ts";
import type { BoundEngine } from "./surface-guard.ts";

/** Engines by the name that configurations use. */
export type GuardrailEngines = Readonly<Partial<Record<GuardrailEngineEntry["provider"], Engine>>>;

const TIMEOUT_MS = 3_000;
/** Overlap of neighbouring pieces of a long text, so that nothing is hidden at a cut. */
const OVERLAP = 400;
/** A text with more pieces is not sent to the engine and counts as impossible to check. */
const MAX_PIECES = 24;

export interface EngineParts {
  readonly engines: GuardrailEngines;
  /** For guard models, which are models of the gateway. */
  readonly askModel: AskModel;
}

/** Takes the texts that engines were asked about through a run that redacts what they found. */
export type RedactFound = (run: GuardRun) => InTurns<unknown>;

/**
 * Asks all engines of the surface about a text concurrently and adds their verdicts to the run. Returns whether any of them had
 * values redacted; without `redactFound` they block instead.
 */
export async function askEngines(
  { engines, askModel }: EngineParts,
  run: GuardRun,
  call: Call,
  direction: "input" | "output",
  text: string,
  redactFound: RedactFound | null = null,
): Promise<boolean> {
  if (text.trim() === "") return false;
  const verdicts = await Promise.all(
    run.surface.engines.map(async (bound) => ({
      bound,
      verdict: await ask(
        bound.engine.provider === "guard_model" ? guardModel(askModel, call, bound.engine.model ?? null) : engines[bound.engine.provider],
        bound,
        call,
        direction,
        text,
      ),
    })),
  );
  const withoutPlaceholders = text.replaceAll(placeholderForm(), "");
  const found: [BoundEngine, readonly EngineValue[]][] = [];
  for (const { bound, verdict } of verdicts) {
    const values =
      verdict.kind === "found" && bound.engine.action === "redact"
        ? (verdict.values ?? []).filter(({ value }) => !isPlaceholder(value, withoutPlaceholders))
        : null;
    if (redactFound === null || values === null) settle(run, bound, verdict);
    else if (values.length > 0) found.push([bound, values]);
    else settle(run, bound, CLEAR);
  }
  if (found.length === 0 || redactFound === null || run.blocked !== null) return false;
  const values = new FoundValues(run.surface, found);
  const beside = run.beside(values.surface);
  await inTurns(redactFound(beside), run.work);
  run.recall(beside.outcome);
  if (values.isIncomplete) run.noteInspectionFailed();
  return true;
}

function settle(run: GuardRun, { source, engine }: BoundEngine, verdict: EngineVerdict): void {
  const action = engine.action === "warn" ? "warn" : "block";
  if (verdict.kind === "clear") run.watchedBy(source);
  if (verdict.kind === "found") run.engine({ source, check: verdict.check, action, failed: false });
  if (verdict.kind !== "failed") return;
  const onFailure = engine.on_failure ?? (action === "block" ? "block" : "allow");
  run.engine(onFailure === "block" ? { source, check: "toxic_content", action: "block", failed: true } : "degraded");
}

async function ask(
  engine: Engine | undefined,
  { engine: entry }: BoundEngine,
  call: Call,
  direction: "input" | "output",
  text: string,
): Promise<EngineVerdict> {
  if (engine === undefined) return { kind: "failed", reason: "this gateway has no such engine" };
  const pieces = piecesOf(text, engine.longest);
  if (pieces.length > MAX_PIECES) return { kind: "failed", reason: "the text is too long for the engine" };
  const timeoutMs = entry.timeout_ms ?? TIMEOUT_MS;
  const abort = new AbortController();
  const follow = () => abort.abort(call.abort.signal.reason);
  const { signal } = call.abort;
  if (signal.aborted) follow();
  else signal.addEventListener("abort", follow, { once: true });
  // The timeout covers reading the body, and engines that ignore the abort.
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<readonly EngineVerdict[]>((resolve) => {
    timer = setTimeout(() => {
      abort.abort("engine_timeout");
      resolve([{ kind: "failed", reason: "the engine did not answer in time" }]);
    }, timeoutMs);
  });
  const settings = {
    endpoint: entry.endpoint ?? null,
    apiKey: entry.apiKey,
    threshold: entry.threshold ?? 0.5,
    model: entry.model ?? null,
    identifier: entry.identifier ?? null,
    version: entry.version ?? null,
    entities: entry.entities,
    language: entry.language,
  };
  try {
    const verdicts = await Promise.race([
      Promise.all(pieces.map((piece) => engine.ask(settings, { text: piece, direction, abort, timeoutMs }))),
      late,
    ]);
    const failure = verdicts.find(({ kind }) => kind === "failed");
    const found = verdicts.flatMap((verdict) => (verdict.kind === "found" ? [verdict] : []));
    // What a piece that was not inspected holds cannot be redacted.
    if (failure !== undefined && (found.length === 0 || entry.action === "redact")) return failure;
    const [first] = found;
    if (first === undefined) return CLEAR;
    return { ...first, values: found.flatMap(({ values = [] }) => values) };
  } catch {
    return { kind: "failed", reason: "the engine failed" };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", follow);
  }
}

function piecesOf(text: string, longest: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at === 0 || at + OVERLAP < text.length; at += longest - OVERLAP)
    pieces.push(text.slice(at, at + longest).toWellFormed());
  return pieces;
}
