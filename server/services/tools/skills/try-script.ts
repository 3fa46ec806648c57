import type { AgentSkillTrial, AgentSkillTrialRequest } from "@gatehouse/contracts/agent-skills";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { languageOf } from "../../../upstreams/sandbox/languages.ts";
import type { SkillTools } from "./skill-parts.ts";

/** A version of a skill. */
export interface TriedVersion {
  readonly tenantId: string;
  readonly id: string;
  readonly version: number;
  readonly digest: string;
}

/** Runs a script of any version for an administrator, in the same sandbox as calls, and returns its outcome. */
export type TryScript = (tried: TriedVersion, trial: AgentSkillTrialRequest, signal: AbortSignal) => Promise<AgentSkillTrial | Refusal>;

const DEFAULT_SECONDS = 30;
const MAX_SHOWN = 100_000;
const lenient = new TextDecoder();

/** `tools`: null if the process serves no calls and therefore has no sandbox. */
export function scriptTrial(tools: SkillTools | null): TryScript {
  return async (tried, { script, args = [], stdin = "", timeout_seconds: seconds = DEFAULT_SECONDS }, signal) => {
    if (tools === null) return refuse("sandbox_unavailable");
    const { files } = await tools.served.of(tried);
    const file = script.startsWith("scripts/") ? files.get(script) : undefined;
    if (file === undefined) return refuse("skill_file_not_found", "The version has no such script. Its scripts stand in scripts/.");
    const language = languageOf(script, file.content);
    if (language === null)
      return refuse("skill_arguments_invalid", "Scripts are of bash, Python or JavaScript; this file is none of them.");
    if (!(await tools.sandbox.runs(language))) return refuse("sandbox_unavailable");
    const leave = await tools.running(tried.tenantId);
    if (leave === null) return refuse("sandbox_busy", undefined, { headers: { "retry-after": "1" } });
    const folder = await tools.folders.open(tried.digest, files).catch((error: unknown) => {
      leave();
      throw error;
    });
    try {
      const run = { language, script, args, stdin, deadlineMs: seconds * 1000, skill: folder.path, input: null, signal };
      const outcome = await tools.sandbox.run(run);
      if (outcome.end === "not_started") return refuse("sandbox_unavailable");
      return {
        script,
        version: tried.version,
        end: outcome.end,
        exit_code: outcome.exitCode,
        stdout: shown(outcome.stdout),
        stderr: shown(outcome.stderr),
        files: [...outcome.files].map(([name, { byteLength }]) => ({ name, size: byteLength })),
        duration_ms: outcome.durationMs,
        sandbox: tools.sandbox.kind ?? "none",
      };
    } finally {
      folder.close();
      leave();
    }
  };
}

const shown = (bytes: Uint8Array) => lenient.decode(bytes).slice(0, MAX_SHOWN);
