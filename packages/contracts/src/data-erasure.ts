import { z } from "zod";
import { timestamp } from "./conventions.ts";

const identifier = z.string().min(1).max(320).optional();

export const erasureRequest = z
  .strictObject({
    subject: z
      .strictObject({
        gateway_user_id: identifier,
        gateway_user_username: identifier,
        idp_user_id: identifier,
        idp_user_username: identifier,
        idp_user_email: identifier,
        subject_id: identifier.describe("as rows name whom a call was for; it stays on them, because the hash covers it"),
        end_user_session_id: identifier.describe("as rows hold it"),
      })
      .refine((subject) => Object.values(subject).some((value) => value !== undefined), "must name at least one identifier")
      .describe(
        "one data subject, as audit rows name it; rows with any of the values are erased, and the end user that a user id or " +
          "username stands for",
      ),
    reason: z.string().max(1000).optional().describe("kept with the event: it must not name the subject"),
  })
  .meta({ id: "ErasureRequest" });

export const erasureEvent = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    at: timestamp.describe("rows of calls up to then are erased, whenever they arrive"),
    requested_by: z.string().nullable(),
    reason: z.string().nullable(),
    identifiers: z.array(z.string()).describe("what named the subject; the values are not kept"),
    rows_erased: z.number().int(),
    runs_changed: z.number().int(),
    account_erased: z.boolean().describe("whether an end user was among what went, with everything that is theirs"),
    approvals_erased: z.number().int().describe("approvals the subject asked for or resolved"),
  })
  .meta({ id: "ErasureEvent" });
