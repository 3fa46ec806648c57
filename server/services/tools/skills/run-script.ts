import { fileOwner } from "../../../directory/files/stored-files.ts";
import type { ServedSkill } from "../../../directory/skills/served-skills.ts";
import type { SkillEntry } from "../../../directory/skills/skill-entry.ts";
import { isRefusal, type Refusal, refuse } from "../../../kernel/errors.ts";
import { sha256Hex } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";
import type { Gates } from "../../../road/gates.ts";
import { languageOf } from "../../../upstreams/sandbox/languages.ts";
import type { RunOutcome } from "../../../upstreams/sandbox/run-confined.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import type { ScriptCall } from "./script-call.ts";
import { contentBlock } from "./skill-content.ts";
import type { SkillTools } from "./skill-parts.ts";
import { storedOutputs } from "./stored-outputs.ts";

const MAX_INPUT_BYTES = 16 * 1024 * 1024;

export interface ScriptTerms {
  readonly entry: SkillEntry;
  readonly skill: ServedSkill;
  readonly asked: ScriptCall;
  readonly deadlineMs: number;
  /** Inspects the files that the script writes. */
  readonly gates: Pick<Gates, "inspect">;
  /** Writes the call's begin marker. Returns a refusal if that fails. */
  depart(): Refusal | null;
}

/** Runs a script of the skill in the sandbox, with access to nothing but the skill and its input. Returns the tool result. */
export async function runScript(call: Call, terms: ScriptTerms, tools: SkillTools): Promise<JsonObject | Refusal> {
  const { skill, asked } = terms;
  const file = asked.script.startsWith("scripts/") ? skill.files.get(asked.script) : undefined;
  if (file === undefined) return refuse("skill_file_not_found", "The skill has no such script. Its scripts stand in scripts/.");
  const language = languageOf(asked.script, file.content);
  if (language === null) return refuse("skill_arguments_invalid", "Scripts are of bash, Python or JavaScript; this file is none of them.");
  if (!(await tools.sandbox.runs(language))) return refuse("sandbox_unavailable");
  const leave = await tools.running(call.identity?.tenantId ?? "");
  if (leave === null) return refuse("sandbox_busy", undefined, { headers: { "retry-after": "1" } });
  try {
    // Loaded only now, so that calls waiting for their turn hold no files in memory.
    const inputs = await inputsOf(call, asked.inputFiles, tools);
    if (isRefusal(inputs)) return inputs;
    const folder = await tools.folders.open(terms.entry.digest, skill.files);
    let given: { readonly path: string; close(): Promise<void> } | null = null;
    try {
      if (inputs.size > 0) given = await tools.folders.forRun(inputs);
      const unrecorded = terms.depart();
      if (unrecorded !== null) return unrecorded;
      const outcome = await tools.sandbox.run({
        ...{ language, script: asked.script, args: asked.args, stdin: asked.stdin, deadlineMs: terms.deadlineMs },
        ...{ skill: folder.path, input: given?.path ?? null, signal: call.abort.signal },
      });
      noteRun(call, asked, outcome, tools);
      if (outcome.end === "aborted") return refuse("upstream_interrupted");
      if (outcome.end === "not_started") return refuse("sandbox_unavailable");
      return await resultOf(call, outcome, terms, tools);
    } finally {
      folder.close();
      await given?.close();
    }
  } finally {
    leave();
  }
}

/** The caller's own files, by the names under which the script finds them. */
async function inputsOf(call: Call, ids: readonly string[], { files }: SkillTools): Promise<Map<string, Uint8Array> | Refusal> {
  const found = new Map<string, Uint8Array>();
  const { identity, scope } = call;
  if (identity === null || scope === null) return found;
  let left = MAX_INPUT_BYTES;
  for (const id of ids) {
    const file = await files.find(fileOwner(identity, scope), id);
    if (isRefusal(file)) return file;
    left -= file.size_bytes;
    if (left < 0) return refuse("skill_arguments_invalid", "Files for a script are at most 16 MiB together.");
    const stream = await files.open(file, 0, file.size_bytes);
    if (isRefusal(stream)) return stream;
    found.set(
      nameFor(file.display_name, id, found),
      new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer()),
    );
  }
  return found;
}

function nameFor(displayName: string | null, id: string, taken: ReadonlyMap<string, unknown>): string {
  const name = (displayName ?? "")
    .replace(/[^A-Za-z0-9._-]+/g, "_")
    .replace(/^[.-]+/, "")
    .slice(0, 100);
  return name === "" || taken.has(name) ? id : name;
}

function noteRun({ row }: Call, { script, args, stdin }: ScriptCall, outcome: RunOutcome, { sandbox }: SkillTools): void {
  const metadata = row.custom_metadata as { readonly skill?: object } | null | undefined;
  row.custom_metadata = {
    ...metadata,
    skill: {
      ...metadata?.skill,
      script,
      args_sha256: sha256Hex(JSON.stringify([args, stdin])),
      end: outcome.end,
      exit_code: outcome.exitCode,
      duration_ms: outcome.durationMs,
      output_bytes: outcome.stdout.byteLength,
      sandbox: sandbox.kind,
    },
  };
}

const lenient = new TextDecoder();

async function resultOf(
  call: Call,
  outcome: RunOutcome,
  { deadlineMs, gates }: ScriptTerms,
  tools: SkillTools,
): Promise<JsonObject | Refusal> {
  const printed = lenient.decode(outcome.stdout);
  if (outcome.end === "exited" && outcome.exitCode === 0) {
    const links = await storedOutputs(call, outcome, gates, tools);
    return isRefusal(links) ? links : { content: [contentBlock(printed), ...links], isError: false };
  }
  const why =
    outcome.end === "deadline"
      ? `The script was ended after ${deadlineMs / 1000} seconds.`
      : outcome.end === "output_too_large"
        ? "The script printed more than it may, and was ended."
        : `The script ended with status ${outcome.exitCode}.`;
  const errors = lenient.decode(outcome.stderr).trim();
  const output = [why, errors, printed.slice(0, 20_000)].filter((text) => text !== "").join("\n");
  return { content: [contentBlock(output)], isError: true };
}
