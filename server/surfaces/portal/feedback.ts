import { runRated } from "@gatehouse/contracts/portal-answers";
import { runFeedback } from "@gatehouse/contracts/portal";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";

export const feedbackRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "POST",
    path: "/v1/portal/runs/:run_id/feedback",
    name: "run_feedback",
    summary: "Rates a run in which the user took part",
    answer: { status: 200, schema: runRated },
    body: runFeedback,
    run: ({ services, call, params, body }) =>
      services.feedback.rate(call, params.run_id ?? "", { score: body.score, comment: body.comment ?? null }),
  }),
];
