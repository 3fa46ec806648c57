import {
  response,
  responsePolicy,
  responsePolicyCreate,
  responsePolicyQuery,
  responsePolicyUpdate,
  responsePreview,
  responseQuery,
  restore,
  restored,
} from "@gatehouse/contracts/ai-responses";
import { listOf } from "@gatehouse/contracts/conventions";
import {
  armResponsePolicy,
  changeResponsePolicy,
  disarmResponsePolicy,
  listResponsePolicies,
  listResponses,
  previewResponse,
  readResponsePolicy,
  restoreSystem,
} from "../../../directory/assurance/responses.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf, listed } from "../resource.ts";

const SYSTEM = "/v1/admin/ai-systems/{id}";
const POLICIES = "/v1/admin/response-policies";
const common = { tag: "Responses", reach: "one" } as const;
const ofSystem = { ...common, subject: "ai_systems" } as const;
const ofPolicy = { ...common, subject: "response_policies" } as const;
const NARROWS = "It only ever narrows, for as long as its ttl says, and what it does is sealed in the admin log.";

export const responseOperations: readonly AdminOperation[] = [
  operation({
    ...ofSystem,
    access: "assurance:read",
    method: "GET",
    path: `${SYSTEM}/response-policies`,
    summary: "List the response policies that apply to an AI System",
    description: "Its own and the tenant's.",
    query: responsePolicyQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("response_policies", responsePolicy) },
    run: (call) =>
      listed("response_policies", call, (page) => listResponsePolicies(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...ofSystem,
    access: "assurance:write",
    method: "POST",
    path: `${SYSTEM}/response-policies`,
    summary: "Create a response policy for an AI System",
    description: `Answers its findings by narrowing what it may do. ${NARROWS}`,
    body: responsePolicyCreate,
    answer: { status: 201, about: "The policy", schema: responsePolicy },
    run: (call) => call.write((write) => armResponsePolicy(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...ofSystem,
    access: "assurance:read",
    method: "POST",
    path: `${SYSTEM}/response-policies/preview`,
    summary: "What a response policy would do",
    description:
      "For this system, now: the open findings that would trigger it, and the groups its action would reach. Nothing is changed.",
    body: responsePolicyCreate,
    answer: { status: 200, about: "Its blast radius", schema: responsePreview },
    run: (call) => previewResponse(call.services.directory, call.tenantId, idOf(call), call.body),
  }),
  operation({
    ...ofSystem,
    access: "assurance:read",
    method: "GET",
    path: `${SYSTEM}/responses`,
    summary: "List what responses did to an AI System",
    description: "The newest first, with what was refused and what dry runs would have done.",
    query: responseQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("responses", response) },
    run: (call) => listed("responses", call, (page) => listResponses(call.services.directory, call.tenantId, idOf(call), page)),
  }),
  operation({
    ...ofSystem,
    access: "assurance:write",
    method: "POST",
    path: `${SYSTEM}/restore`,
    summary: "Undo what responses narrowed",
    description: "Envelope and lifecycle stay as declared. Sealed in the admin log.",
    body: restore,
    answer: { status: 200, about: "What was undone", schema: restored },
    run: (call) => call.write(async (write) => ({ restored: await restoreSystem(write, call.tenantId, idOf(call), call.body.reason) })),
  }),
  operation({
    ...common,
    access: "assurance:read",
    method: "GET",
    path: POLICIES,
    summary: "List the response policies of the tenant",
    description: "Those that hold for every AI System.",
    query: responsePolicyQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("response_policies", responsePolicy) },
    run: (call) => listed("response_policies", call, (page) => listResponsePolicies(call.services.directory, call.tenantId, null, page)),
  }),
  operation({
    ...common,
    access: "assurance:write",
    method: "POST",
    path: POLICIES,
    summary: "Create a response policy for every AI System",
    description: NARROWS,
    body: responsePolicyCreate,
    answer: { status: 201, about: "The policy", schema: responsePolicy },
    run: (call) => call.write((write) => armResponsePolicy(write, call.tenantId, null, call.body)),
  }),
  operation({
    ...ofPolicy,
    access: "assurance:read",
    method: "GET",
    path: `${POLICIES}/{id}`,
    summary: "Read a response policy",
    answer: { status: 200, about: "The policy", schema: responsePolicy },
    run: (call) => readResponsePolicy(call.services.directory, call.tenantId, idOf(call)),
  }),
  operation({
    ...ofPolicy,
    access: "assurance:write",
    method: "PATCH",
    path: `${POLICIES}/{id}`,
    summary: "Change a response policy",
    description: "What is left out stays as it is. Sealed in the admin log.",
    body: responsePolicyUpdate,
    answer: { status: 200, about: "The policy as it is now", schema: responsePolicy },
    run: (call) => call.write((write) => changeResponsePolicy(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...ofPolicy,
    access: "assurance:write",
    method: "PUT",
    path: `${POLICIES}/{id}`,
    summary: "Replace a response policy",
    description: "Replaces it whole. Sealed in the admin log.",
    body: responsePolicyCreate,
    answer: { status: 200, about: "The policy as it is now", schema: responsePolicy },
    run: (call) => call.write((write) => changeResponsePolicy(write, call.tenantId, idOf(call), call.body)),
  }),
  operation({
    ...ofPolicy,
    access: "assurance:write",
    method: "DELETE",
    path: `${POLICIES}/{id}`,
    summary: "Disarm a response policy",
    description: "Its present restrictions stay until they end or are restored. Sealed in the admin log.",
    answer: { status: 204, about: "Gone" },
    run: (call) => call.write((write) => disarmResponsePolicy(write, call.tenantId, idOf(call))),
  }),
];
