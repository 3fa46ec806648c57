import {
  replayQuery,
  replayRun,
  replayRunQuery,
  replayRunRequest,
  replayRunWithResults,
  replayState,
  replaySuiteFreeze,
} from "@gatehouse/contracts/ai-replay";
import { listOf } from "@gatehouse/contracts/conventions";
import { cancelReplayRun, listReplayRuns, readReplay, readReplayRun, requestReplayRun } from "../../../directory/assurance/replay-runs.ts";
import { freezeSuite } from "../../../directory/assurance/replay-suites.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const REPLAY = "/v1/admin/ai-systems/{id}/replay";
const common = { tag: "Replay", reach: "one", subject: "ai_systems" } as const;
const reading = { ...common, access: "assurance:read", method: "GET" } as const;
const writing = { ...common, access: "assurance:write", method: "POST" } as const;

const runOf = ({ params }: { readonly params: Readonly<Record<string, string>> }) => params.run_id ?? "";

export const replayOperations: readonly AdminOperation[] = [
  operation({
    ...reading,
    path: REPLAY,
    summary: "Read the replay suite of an AI System, and its gate",
    description: "The suite in force, its newest run, and the gate of a version of the contract.",
    query: replayQuery,
    answer: { status: 200, about: "Suite, run and gate", schema: replayState },
    run: (call) => readReplay(call.services.directory, call.tenantId, idOf(call), call.query.contract),
  }),
  operation({
    ...writing,
    path: `${REPLAY}/suite`,
    summary: "Freeze a replay suite from recent traffic",
    description:
      "Some calls of each kind, by model or tool, surface and outcome, in addition to those pinned by name. It refers to their rows " +
      "and holds no content. It replaces the previous suite. Sealed in the admin log.",
    body: replaySuiteFreeze,
    answer: { status: 200, about: "Suite, run and gate", schema: replayState },
    async run(call) {
      await call.write((write) => freezeSuite(write, call.tenantId, idOf(call), call.body));
      return readReplay(call.services.directory, call.tenantId, idOf(call), undefined);
    },
  }),
  operation({
    ...writing,
    path: `${REPLAY}/run`,
    summary: "Ask for a run of the replay suite",
    description:
      "Each case passes the rules in force as often as the suite says. Models are called again, under the AI System's limits and on " +
      "its bill; tools are not called unless a case says so. Sealed in the admin log.",
    body: replayRunRequest,
    answer: { status: 200, about: "The run, which waits", schema: replayRun },
    run: (call) => call.write((write) => requestReplayRun(write, call.tenantId, idOf(call))),
  }),
  operation({
    ...reading,
    path: `${REPLAY}/runs`,
    summary: "List the replay runs of an AI System",
    description: "The newest first.",
    query: replayRunQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("runs", replayRun) },
    run: (call) => listed("runs", call, (page) => listReplayRuns(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...reading,
    path: `${REPLAY}/runs/{run_id}`,
    summary: "Read a replay run",
    description: "With the verdict of each case and the rows of its calls.",
    answer: { status: 200, about: "The run", schema: replayRunWithResults },
    run: (call) => readReplayRun(call.services.directory, call.tenantId, idOf(call), runOf(call)),
  }),
  operation({
    ...writing,
    path: `${REPLAY}/runs/{run_id}/cancel`,
    summary: "Cancel a replay run",
    description: "Calls in progress finish; no further one begins. Sealed in the admin log.",
    body: replayRunRequest,
    answer: { status: 200, about: "The run as it is now", schema: replayRun },
    run: (call) => call.write((write) => cancelReplayRun(write, call.tenantId, idOf(call), runOf(call))),
  }),
];
