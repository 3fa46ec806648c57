import { listOf, pageQuery, queryFlag } from "@gatehouse/contracts/conventions";
import { alert } from "@gatehouse/contracts/limits";
import { z } from "zod";
import { listAlerts } from "../../../directory/limits/alerts.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { listed } from "../resource.ts";

const alertQuery = z.strictObject({ ...pageQuery.shape, group_id: z.uuid().optional(), resolved: queryFlag.optional() });

export const alertOperations: readonly AdminOperation[] = [
  operation({
    tag: "Limits and governance",
    access: "limits:read",
    reach: "any",
    method: "GET",
    path: "/v1/admin/alerts",
    summary: "List alerts",
    description: "Newest first. A limit that is crossed raises one alert for each window.",
    query: alertQuery,
    answer: { status: 200, about: "One page of them", schema: listOf("alerts", alert) },
    run: (call) => {
      const { group_id, resolved } = call.query;
      return listed("alerts", call, (page) =>
        listAlerts(
          call.services.directory,
          call.tenantOrAll,
          { group_id, resolved: resolved === undefined ? undefined : resolved === "true" },
          page,
        ),
      );
    },
  }),
];
