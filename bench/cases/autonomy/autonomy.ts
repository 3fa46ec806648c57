import { autonomy } from "../../../server/controls/autonomy/autonomy.ts";
import { autonomyOf } from "../../../server/directory/assurance/autonomy.ts";
import { knowledgeAfter } from "../../../server/directory/configuration-provenance.ts";
import type { GroupScope } from "../../../server/directory/snapshot.ts";
import type { Call } from "../../../server/road/call.ts";
import { EMPTY_VIEW } from "../../../server/road/request/empty-view.ts";
import type { AutonomyRow } from "../../../server/store/assurance/ai-systems.ts";

const LEVELS = 8;
const BOUND = 5;

const ids = Array.from({ length: LEVELS }, (_, i) => `s${i}`);
const systems = new Map(
  ids.map((id) => [
    id,
    {
      id,
      autonomy_level: "restricted",
      lifecycle_state: "in_service",
      restrictions: { model_ids: ["m"], tools: ["t"] },
      actions: [],
    } as unknown as AutonomyRow,
  ]),
);

/** Measures the work done once per snapshot (compiling the restrictions with the scope) and once per call. */
function measure(name: string, calls: number, work: (at: number) => void): number {
  for (let at = 0; at < calls / 10; at++) work(at);
  const before = process.cpuUsage();
  for (let at = 0; at < calls; at++) work(at);
  const { user, system } = process.cpuUsage(before);
  const each = (user + system) / calls;
  console.log(`${name}: ${each.toFixed(3)} microseconds of CPU (bound: ${BOUND})`);
  return each;
}

const readAt = performance.now();
const control = autonomy(() => knowledgeAfter(performance.now() - readAt));
const held = autonomyOf(ids, systems);
const scope = { autonomy: held, tenant: { autonomyFloor: "autonomous" } } as unknown as GroupScope;
const view = { ...EMPTY_VIEW, target: { kind: "model", name: "m", id: null, modes: ["chat"] } } as unknown as typeof EMPTY_VIEW;

const call = measure("a call of an AI System", 2_000_000, () => {
  void control.decide({ scope, row: {} } as unknown as Call, view);
});
measure(`compiling ${LEVELS} systems in a line, once for each snapshot`, 50_000, () => {
  autonomyOf(ids, systems);
});
if (call > BOUND) process.exitCode = 1;
