import {
  aiSystem,
  aiSystemCreate,
  aiSystemOnBoard,
  aiSystemQuery,
  aiSystemUpdate,
  operatingEnvelope,
  envelopePut,
  evidence,
  evidenceCreate,
  evidenceUpdate,
  lifecycle,
  lifecycleAttempt,
} from "@gatehouse/contracts/ai-systems";
import { listOf, pageQuery } from "@gatehouse/contracts/conventions";
import { aiSystems } from "../../../directory/assurance/ai-systems.ts";
import { readFleetBoard } from "../../../directory/assurance/board.ts";
import { putEnvelope, readEnvelope } from "../../../directory/assurance/envelope.ts";
import { attachEvidence, changeEvidence, detachEvidence, getEvidence, listEvidence } from "../../../directory/assurance/evidence.ts";
import { attemptTransition } from "../../../directory/assurance/lifecycle.ts";
import { readLifecycle } from "../../../directory/assurance/read-lifecycle.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed, resource } from "../resource.ts";

const PATH = "/v1/admin/ai-systems";
const ONE = `${PATH}/{id}`;
const EVIDENCE = `${ONE}/evidence`;
const common = { tag: "AI Systems", reach: "one", subject: "ai_systems" } as const;
const reading = { ...common, access: "assurance:read" } as const;
const writing = { ...common, access: "assurance:write" } as const;

const records = resource({
  path: PATH,
  key: "ai_systems",
  noun: "AI System",
  article: "an",
  tag: "AI Systems",
  area: "assurance",
  table: "ai_systems",
  records: aiSystems,
  query: aiSystemQuery,
  create: aiSystemCreate,
  update: aiSystemUpdate,
  read: aiSystem,
  notes: {
    create: "Registers a resource group as an AI System: an agent or application that is governed as one. Its id is the group's.",
    remove: "The group stays. A system that has contract versions is retired instead.",
  },
}).filter(({ method, path }) => method !== "GET" || path !== PATH);

const eidOf = ({ params }: { readonly params: Readonly<Record<string, string>> }) => params.eid ?? "";

export const aiSystemOperations: readonly AdminOperation[] = [
  operation({
    tag: "AI Systems",
    access: "assurance:read",
    reach: "one",
    method: "GET",
    path: PATH,
    summary: "List AI Systems with the gaps in their governance",
    description:
      "The fleet board: each system with its contract, its traffic of the last 24 hours, and what is missing, with what to do about it.",
    query: aiSystemQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("ai_systems", aiSystemOnBoard) },
    run: (call) => listed("ai_systems", call, (page) => readFleetBoard(call.services.directory, call.tenantId, call.query, page)),
  }),
  ...records,
  operation({
    ...reading,
    method: "GET",
    path: `${ONE}/lifecycle`,
    summary: "Read the lifecycle state of an AI System",
    description: "Its state, and the requirements of each possible next state with whether they are met.",
    answer: { status: 200, about: "State and transitions", schema: lifecycle },
    run: (call) => readLifecycle(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: `${ONE}/lifecycle`,
    summary: "Move an AI System to another lifecycle state",
    description:
      "Sealed in the admin log. What is not allowed is a 409 with what is missing. `suspended` and `retired` refuse every call of the " +
      "system from then on, `restricted` leaves what its envelope names.",
    body: lifecycleAttempt,
    answer: { status: 200, about: "State and transitions as they are now", schema: lifecycle },
    run: (call) => call.write((write) => attemptTransition(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${ONE}/envelope`,
    summary: "Read the operating envelope of an AI System",
    answer: { status: 200, about: "What is declared, and what is in force", schema: operatingEnvelope },
    run: (call) => readEnvelope(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...writing,
    method: "PUT",
    path: `${ONE}/envelope`,
    summary: "Declare the operating envelope of an AI System",
    description:
      "Replaces it completely, sealed in the admin log: the ceilings of each run, how freely it may act, and what it may still use " +
      "when restricted. It also applies to the groups below, which can only narrow it.",
    body: envelopePut,
    answer: { status: 200, about: "The envelope as it is now", schema: operatingEnvelope },
    run: (call) => call.write((write) => putEnvelope(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: EVIDENCE,
    summary: "List evidence about an AI System",
    description: "The newest first.",
    query: pageQuery,
    answer: { status: 200, about: "One page of it", schema: listOf("evidence", evidence) },
    run: (call) => listed("evidence", call, (page) => listEvidence(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...writing,
    method: "POST",
    path: EVIDENCE,
    summary: "Attach evidence to an AI System",
    description: "An external document, by its address and SHA-256.",
    body: evidenceCreate,
    answer: { status: 201, about: "The evidence", schema: evidence },
    run: (call) => call.write((write) => attachEvidence(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...reading,
    method: "GET",
    path: `${EVIDENCE}/{eid}`,
    summary: "Read a piece of evidence",
    answer: { status: 200, about: "The evidence", schema: evidence },
    run: (call) => getEvidence(call.services.directory, call.tenantId, idOf(call), eidOf(call)),
  }),
  operation({
    ...writing,
    method: "PATCH",
    path: `${EVIDENCE}/{eid}`,
    summary: "Change the description of a piece of evidence",
    description: "Its kind, address and digest stay: another document is another piece.",
    body: evidenceUpdate,
    answer: { status: 200, about: "The evidence as it is now", schema: evidence },
    run: (call) => call.write((write) => changeEvidence(write, call.tenantId, idOf(call), eidOf(call), call.body)),
  }),
  operation({
    ...writing,
    method: "DELETE",
    path: `${EVIDENCE}/{eid}`,
    summary: "Detach a piece of evidence",
    description: "Snapshots that captured it keep it.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => detachEvidence(write, call.tenantId, idOf(call), eidOf(call))),
  }),
];
