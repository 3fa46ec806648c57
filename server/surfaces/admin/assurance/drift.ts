import {
  baselineEpoch,
  baselines,
  driftFinding,
  driftNote,
  driftQuery,
  driftResolve,
  incidentWindow,
  incidentWindowCreate,
  incidentWindowOfSystem,
  incidentWindowQuery,
  incidentWindowUpdate,
  liveness,
} from "@gatehouse/contracts/ai-drift";
import { listOf, pageQuery } from "@gatehouse/contracts/conventions";
import { listBaselineEpochs, readBaselines } from "../../../directory/assurance/baselines.ts";
import { acknowledgeFinding, listFindings, resolveFinding } from "../../../directory/assurance/findings.ts";
import {
  changeIncidentWindow,
  declareIncidentWindow,
  declareWindowOfSystem,
  listIncidentWindows,
  readIncidentWindow,
  withdrawIncidentWindow,
} from "../../../directory/assurance/incident-windows.ts";
import { readLiveness } from "../../../directory/assurance/liveness.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const SYSTEM = "/v1/admin/ai-systems/{id}";
const DRIFT = "/v1/admin/drift";
const WINDOWS = "/v1/admin/incident-windows";
const common = { tag: "Drift", reach: "one" } as const;
const ofSystem = { ...common, subject: "ai_systems", access: "assurance:read", method: "GET" } as const;
const resolving = { ...common, subject: "drift_findings", access: "assurance:write", method: "POST" } as const;
const ofWindow = { ...common, subject: "incident_windows" } as const;

export const driftOperations: readonly AdminOperation[] = [
  operation({
    ...ofSystem,
    path: `${SYSTEM}/liveness`,
    summary: "Liveness of an AI System",
    description: "Its expected activity, from the hours of the last 14 days in which it was called, and how long it has been silent.",
    answer: { status: 200, about: "Expectation and status", schema: liveness },
    run: (call) => readLiveness(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...ofSystem,
    path: `${SYSTEM}/baselines`,
    summary: "Baseline of an AI System",
    description: "The models, tools, callers and instructions of its newest baseline epoch, and those observed so far.",
    answer: { status: 200, about: "The baseline, or how far it is learned", schema: baselines },
    run: (call) => readBaselines(call.services.directory, call.tenantId, idOf(call), call.services.learning),
  }),
  operation({
    ...ofSystem,
    path: `${SYSTEM}/baseline-epochs`,
    summary: "List the baseline epochs of an AI System",
    description: "The newest first. Each is frozen; another one begins where a finding is resolved as `baselined`.",
    query: pageQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("baseline_epochs", baselineEpoch) },
    run: (call) => listed("baseline_epochs", call, (page) => listBaselineEpochs(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...ofSystem,
    path: `${SYSTEM}/drift`,
    summary: "List the findings of an AI System",
    description: "Most recently seen first.",
    query: driftQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("findings", driftFinding) },
    run: (call) => listed("findings", call, (page) => listFindings(call.services.directory, call.tenantId, idOf(call), call.query, page)),
  }),
  operation({
    ...common,
    access: "assurance:read",
    method: "GET",
    path: DRIFT,
    summary: "List the findings of every AI System",
    description: "Most recently seen first.",
    query: driftQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("findings", driftFinding) },
    run: (call) => listed("findings", call, (page) => listFindings(call.services.directory, call.tenantId, undefined, call.query, page)),
  }),
  operation({
    ...resolving,
    path: `${DRIFT}/{id}/ack`,
    summary: "Acknowledge a finding",
    description: "It stays open. Sealed in the admin log.",
    body: driftNote,
    answer: { status: 200, about: "The finding as it is now", schema: driftFinding },
    run: (call) => call.write((write) => acknowledgeFinding(write, call.tenantId, idOf(call), call.body.note ?? null)),
  }),
  operation({
    ...resolving,
    path: `${DRIFT}/{id}/resolve`,
    summary: "Close a finding",
    description: "With how it was resolved. The answer names the baseline epoch or incident window that was created, and its seal.",
    body: driftResolve,
    answer: { status: 200, about: "The finding as it is now", schema: driftFinding },
    run: (call) => call.write((write) => resolveFinding(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...resolving,
    path: `${DRIFT}/{id}/false-positive`,
    summary: "Close a finding as a false positive",
    description: "The same observation is no finding again. Sealed in the admin log.",
    body: driftNote,
    answer: { status: 200, about: "The finding as it is now", schema: driftFinding },
    run: (call) =>
      call.write((write) => resolveFinding(write, call.tenantId, idOf(call), { kind: "false_positive", note: call.body.note ?? null })),
  }),
  operation({
    ...ofSystem,
    path: `${SYSTEM}/incident-windows`,
    summary: "List the incident windows that apply to an AI System",
    description: "Its own and the tenant's, the newest first.",
    query: incidentWindowQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("incident_windows", incidentWindow) },
    run: (call) =>
      listed("incident_windows", call, (page) => listIncidentWindows(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...common,
    subject: "ai_systems",
    access: "assurance:write",
    method: "POST",
    path: `${SYSTEM}/incident-windows`,
    summary: "Declare an incident window of an AI System",
    description: "Traffic in it counts neither as normal nor as a finding. Sealed in the admin log.",
    body: incidentWindowOfSystem,
    answer: { status: 201, about: "The window", schema: incidentWindow },
    run: (call) => call.write((write) => declareWindowOfSystem(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...common,
    access: "assurance:read",
    method: "GET",
    path: WINDOWS,
    summary: "List every incident window",
    description: "The newest first.",
    query: incidentWindowQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("incident_windows", incidentWindow) },
    run: (call) => listed("incident_windows", call, (page) => listIncidentWindows(call.services.directory, call.tenantId, undefined, page)),
  }),
  operation({
    ...common,
    access: "assurance:write",
    method: "POST",
    path: WINDOWS,
    summary: "Declare an incident window",
    description: "Of one AI System, or of every one of the tenant. Sealed in the admin log.",
    body: incidentWindowCreate,
    answer: { status: 201, about: "The window", schema: incidentWindow },
    run: (call) => call.write((write) => declareIncidentWindow(write, call.tenantId, call.body)),
  }),
  operation({
    ...ofWindow,
    access: "assurance:read",
    method: "GET",
    path: `${WINDOWS}/{id}`,
    summary: "Read an incident window",
    answer: { status: 200, about: "The window", schema: incidentWindow },
    run: (call) => readIncidentWindow(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...ofWindow,
    access: "assurance:write",
    method: "PATCH",
    path: `${WINDOWS}/{id}`,
    summary: "Change an incident window",
    description: "Sealed in the admin log with what it was.",
    body: incidentWindowUpdate,
    answer: { status: 200, about: "The window as it is now", schema: incidentWindow },
    run: (call) => call.write((write) => changeIncidentWindow(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...ofWindow,
    access: "assurance:write",
    method: "DELETE",
    path: `${WINDOWS}/{id}`,
    summary: "Withdraw an incident window",
    description: "Sealed in the admin log with what it was.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => withdrawIncidentWindow(write, call.tenantId, idOf(call))),
  }),
];
