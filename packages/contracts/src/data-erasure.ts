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
        subject_id: identifier.describe("the subject of calls as on rows; it stays there, because the hash covers it"),
        end_user_session_id: identifier.describe("as rows hold it"),
      })
      .refine((subject) => Object.values(subject).some((value) => value !== undefined), "must name at least one identifier")
      .describe(
        "one data subject, as audit rows identify it; rows with any of these values are erased, and the end user with that user " +
          "ID or username",
      ),
    reason: z.string().max(1000).optional().describe("stored with the event, so it must not name the subject"),
  })
  .meta({ id: "ErasureRequest" });

export const erasureEvent = z
  .strictObject({
    id: z.string(),
    tenant_id: z.string(),
    at: timestamp.describe("rows of calls up to this time are erased, whenever they arrive"),
    requested_by: z.string().nullable(),
    reason: z.string().nullable(),
    identifiers: z.array(z.string()).describe("what named the subject; the values are not kept"),
    rows_erased: z.number().int(),
    runs_changed: z.number().int(),
    account_erased: z.boolean().describe("whether an end user was erased, with everything that belonged to them"),
    approvals_erased: z.number().int().describe("approvals the subject asked for or resolved"),
  })
  .meta({ id: "ErasureEvent" });
