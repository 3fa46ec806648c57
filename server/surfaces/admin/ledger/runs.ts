import {
  runPage,
  runQuery,
  runStats as statsSchema,
  runTimeseries as timeseriesSchema,
  runWindow as windowQuery,
} from "@gatehouse/contracts/runs";
import { resourceGroups } from "../../../directory/groups/resource-groups.ts";
import { invalidFields } from "../../../kernel/errors.ts";
import {
  figuredWindow,
  listRuns,
  readRunStats,
  readRunTimeseries,
  readRunWindow,
  type RunWindow,
} from "../../../ledger/runs/run-figures.ts";
import { operation, type AdminCall, type AdminOperation } from "../operation.ts";
import { listAnswer, pageOf } from "../paging.ts";
import { idOf } from "../resource.ts";

const PATH = "/v1/admin/ai-systems/{id}/runs";
const common = { tag: "Runs", access: "assurance:read", reach: "one", subject: "resource_groups", method: "GET" } as const;

/** Ten years; anything longer would be a mistake. */
const MAX_WINDOW_MS = 3_660 * 86_400_000;

/** The AI System's ID; refuses one that does not exist as a resource group of the tenant. */
async function known<Query>(call: AdminCall<Query, unknown>): Promise<string> {
  await resourceGroups.get(call.services.directory, call.tenantId, idOf(call));
  return idOf(call);
}

function windowOf(call: AdminCall<{ from?: string | undefined; to?: string | undefined }, unknown>): RunWindow {
  const window = readRunWindow(call.query, call.services.directory.clock.now());
  const span = Date.parse(window.to) - Date.parse(window.from);
  if (span <= 0) throw invalidFields("invalid_query", [{ field: "to", message: "must be after from" }]);
  if (span > MAX_WINDOW_MS) throw invalidFields("invalid_query", [{ field: "from", message: "must be within ten years of to" }]);
  return window;
}

export const runOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    path: PATH,
    summary: "List the runs of an AI System",
    description:
      "Newest first. An AI System is a resource group seen as an agent or application; these are the runs of its own calls, " +
      "without those of groups below it.",
    query: runQuery,
    answer: { status: 200, about: "One page of them", schema: runPage },
    async run(call) {
      const groupId = await known(call);
      const page = pageOf(call.query);
      const found = await listRuns(call.services.directory.db, call.tenantId, groupId, call.query, page);
      return { ...listAnswer("runs", found, page), total_is_exact: found.exact };
    },
  }),
  operation({
    ...common,
    path: `${PATH}/stats`,
    summary: "Figures of the runs that started in a window",
    description:
      "Cost, trajectory length, errors, states and reported outcomes, and how much of each the gateway observed itself. The window " +
      "begins with the hour `from` is in.",
    query: windowQuery,
    answer: { status: 200, about: "Over the whole window", schema: statsSchema },
    async run(call) {
      const window = windowOf(call);
      const groupId = await known(call);
      const signals = await readRunStats(call.services.directory.db, call.tenantId, groupId, window);
      return { ai_system_id: groupId, ...figuredWindow(window), ...signals };
    },
  }),
  operation({
    ...common,
    path: `${PATH}/timeseries`,
    summary: "The same figures by hour or day",
    description: "Hours for windows of 48 hours and under, days above, in UTC.",
    query: windowQuery,
    answer: { status: 200, about: "One bucket after another, empty ones included", schema: timeseriesSchema },
    async run(call) {
      const window = windowOf(call);
      const groupId = await known(call);
      const series = await readRunTimeseries(call.services.directory.db, call.tenantId, groupId, window);
      return { ai_system_id: groupId, ...figuredWindow(window), ...series };
    },
  }),
];
