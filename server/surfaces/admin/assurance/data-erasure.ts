import { listOf, pageQuery } from "@gatehouse/contracts/conventions";
import { erasureEvent, erasureRequest } from "@gatehouse/contracts/data-erasure";
import { erasePerson } from "../../../directory/people/erase-person.ts";
import { refuseUnderLegalHold } from "../../../directory/tenants/legal-hold.ts";
import { eraseDataSubject, listErasures } from "../../../ledger/erasure.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { listed } from "../resource.ts";

const PATH = "/v1/admin/data-erasure";
const common = { tag: "Data erasure", access: "data:erasure", path: PATH, goneToo: true } as const;

export const dataErasureOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    reach: "one",
    method: "POST",
    summary: "Erase a data subject",
    description:
      "Content and direct identifiers go from audit rows, from rows still in a journal and from runs. The hash-chained layer " +
      "stays and verifies as before. An end user that is named by id or username goes whole: account, photo, second factor, " +
      "keys, memberships, notifications, feedback, tokens for tool servers, and what approvals hold of them. The event is " +
      "append-only and sealed in the admin log. Refused with legal_hold while the tenant is under one. A system admin may name a tenant that was deleted: its rows are kept as long " +
      "as its retention says.",
    body: erasureRequest,
    answer: { status: 201, about: "What was erased", schema: erasureEvent },
    run: (call) =>
      call.write(async (write) => {
        const { reason } = call.body;
        await refuseUnderLegalHold(write, call.tenantId);
        const { subject, gone } = await erasePerson(write, call.tenantId, call.body.subject);
        const event = await eraseDataSubject(
          write.trx,
          { tenantId: call.tenantId, subject, reason: reason ?? null, requestedBy: call.actor.username, gone },
          write.directory.clock,
        );
        // Shared cached answers may contain the subject's data, so processes drop what they hold.
        write.notify(call.tenantId, "policy");
        write.log({ tenant_id: call.tenantId, action: "erase", resource: "data-erasure", resource_id: event.id, after: event });
        return event;
      }),
  }),
  operation({
    ...common,
    reach: "any",
    method: "GET",
    summary: "List erasures",
    query: pageQuery,
    answer: { status: 200, about: "One page of events, newest first", schema: listOf("erasures", erasureEvent) },
    run: (call) => listed("erasures", call, (page) => listErasures(call.services.directory.db, call.tenantOrAll, page)),
  }),
];
