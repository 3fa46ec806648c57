import { z } from "zod";
import { pageQuery, recordId, timestamp } from "./conventions.ts";

const status = z.enum(["pending", "approved", "rejected", "expired"]);

/** A request to approve one tool call, as interface 2.5 defines it. */
export const approval = z
  .strictObject({
    id: recordId,
    server_config_id: recordId.nullable(),
    server_name: z.string(),
    capability_type: z.string(),
    capability_name: z.string(),
    requester_type: z.string(),
    requester_display: z.string(),
    requester_group_id: recordId,
    call_arguments: z.unknown(),
    call_arguments_text: z.string().describe("the arguments as JSON text, exactly as sent: for programs that would round long numbers"),
    request_metadata: z.record(z.string(), z.unknown()),
    status,
    timeout_seconds: z.number(),
    expires_at: timestamp,
    resolved_by: z.string().nullable(),
    resolved_at: timestamp.nullable(),
    resolution_note: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: "Approval" });

export const approvalQuery = z.strictObject({ ...pageQuery.shape, status: z.enum([...status.options, "all"]).optional() });

export const approvalResolution = z.strictObject({ note: z.string().max(4000).nullable().optional() }).meta({ id: "ApprovalResolution" });

const resolved = { id: recordId, status, resolved_by: z.string().nullable(), resolved_at: timestamp.nullable(), message: z.string() };

export const approvedApproval = z
  .strictObject({ ...resolved, approval_token: z.string().describe("valid once, for the same call of the requester") })
  .meta({ id: "ApprovedApproval" });

export const rejectedApproval = z.strictObject(resolved).meta({ id: "RejectedApproval" });

export type Approval = z.output<typeof approval>;
