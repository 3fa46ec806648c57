import { BoundedMap } from "../../directory/bounded-map.ts";
import { discoveredTools } from "../../directory/tools/discovered-tools.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../../wire/document.ts";
import { digestOf } from "../../wire/mcp/tool-definitions.ts";
import type { Call, ToolTarget } from "../../road/call.ts";
import { GuardRun } from "../../controls/guardrails/guard-run.ts";
import { type Review, reviewDefinition } from "../../controls/guardrails/tool-definition.ts";
import { type SurfaceGuard, surfaceGuard } from "../../controls/guardrails/surface-guard.ts";
import { tag } from "../../road/record/tag.ts";
import { knownTool } from "./listed-tools.ts";
import type { ToolParts } from "./tool-parts.ts";

type Parts = Pick<ToolParts, "engines" | "memory" | "db">;

/** Definitions reviewed at a time: engines may be asked about each. */
const AT_ONCE = 8;
/** Longer definitions are not kept in memory. */
const LONGEST_KEPT = 64 * 1024;

/** By what guards and the definition's digest: a list whose tools and guardrails are the same costs no review. */
const reviews = new BoundedMap<string, Review>(20_000);

function registrationGuard(call: Call): SurfaceGuard | null {
  return call.scope === null ? null : surfaceGuard(call.scope, "mcp_registration");
}

/** Whether a list that cannot be read must be withheld: guardrails that can leave a tool out have not seen it. */
export function listMustBeRead(call: Call): boolean {
  return registrationGuard(call)?.enforces === true;
}

/**
 * Tools of a list as guardrails on definitions let the caller's group have them: without those that are blocked, and with
 * what is redacted redacted. Null: nothing changes. Tells the row.
 */
export async function registeredTools(call: Call, tools: readonly JsonValue[], parts: Parts): Promise<JsonValue[] | null> {
  if (call.scope?.tenant.guardrails.some(({ surfaces }) => surfaces.has("mcp_registration")) === true) keep(tools, parts);
  const guard = registrationGuard(call);
  if (guard === null) return null;
  const run = new GuardRun(guard);
  const offered: JsonValue[] = [];
  let changed = false;
  for (let at = 0; at < tools.length; at += AT_ONCE) {
    const some = tools.slice(at, at + AT_ONCE);
    const verdicts = await Promise.all(some.map((tool) => (isObject(tool) ? review(call, guard, digestOf(tool), tool, parts) : null)));
    some.forEach((tool, index) => {
      const verdict = verdicts[index] ?? null;
      if (verdict !== null) run.recall(verdict);
      if (verdict?.verdict?.action === "block") {
        tag(call, "tool_withheld");
        changed = true;
        return;
      }
      if (verdict?.definition != null) changed = true;
      offered.push(verdict?.definition ?? tool);
    });
  }
  run.tell(call, false);
  return changed ? offered : null;
}

/** Refuses the call of a tool whose definition guardrails block, or cannot look at. */
export async function refuseUnregistered(call: Call, { server }: ToolTarget, name: string, parts: Parts): Promise<Refusal | null> {
  const guard = registrationGuard(call);
  if (guard === null) return null;
  const run = new GuardRun(guard);
  const known = knownTool(parts.memory, server, name);
  const found =
    known === null ? null : (reviews.get(keyOf(guard, known.hash)) ?? (await reviewKnown(call, guard, server.id, known.hash, parts)));
  if (found === null) run.cannotLook();
  // What is redacted in a description is no business of the call.
  else if (found.verdict?.action !== "redact") run.recall(found);
  run.tell(call);
  const verdict = run.blocked;
  if (verdict === null) return null;
  const extra = { guardrail: verdict.source?.name ?? null, check: verdict.check, direction: "input" };
  if (found === null)
    return refuse(
      "guardrail_blocked",
      "The definition of the tool is not known, so the guardrails of this resource group could not look at it. List the server's tools first.",
      { extra, reason: "the definition is not known" },
    );
  return refuse(
    "guardrail_blocked",
    verdict.failed
      ? "The definition of the tool could not be checked by the guardrail, so the tool was blocked."
      : `The definition of the tool was blocked by a guardrail (${verdict.check}).`,
    { extra },
  );
}

const keyOf = (guard: SurfaceGuard, hash: string) => `${guard.version} ${hash}`;

async function review(call: Call, guard: SurfaceGuard, hash: string, definition: JsonObject, { engines }: Parts): Promise<Review> {
  const key = keyOf(guard, hash);
  const known = reviews.get(key);
  if (known !== undefined) return known;
  const made = await reviewDefinition(call, guard, definition, engines);
  // What failed may not fail the next time.
  if (made.verdict?.failed !== true && !made.degraded) reviews.set(key, made);
  return made;
}

/** By what was listed through this process, else by the last discovery. */
async function reviewKnown(call: Call, guard: SurfaceGuard, serverId: string, hash: string, parts: Parts): Promise<Review | null> {
  const tenantId = call.identity?.tenantId;
  if (!parts.memory.definitions.has(hash) && tenantId !== undefined)
    keep((await discoveredTools(parts, tenantId, serverId)) as readonly JsonValue[], parts);
  const definition = parts.memory.definitions.get(hash);
  return definition === undefined ? null : review(call, guard, hash, JSON.parse(definition) as JsonObject, parts);
}

function keep(tools: readonly JsonValue[], { memory }: Parts): void {
  for (const tool of tools) {
    if (!isObject(tool)) continue;
    const hash = digestOf(tool);
    if (memory.definitions.has(hash)) continue;
    const text = JSON.stringify(tool);
    if (text.length <= LONGEST_KEPT) memory.definitions.set(hash, text);
  }
}
