import type { Admin } from "../targets/admin.ts";

/** Governance of model calls with every feature in use: all kinds of limits, parameter bounds, guardrails. */
export async function governCalls(admin: Admin, groupId: string): Promise<void> {
  const limits = {
    throughput: { max_requests_per_minute: 10_000_000, request_burst: 10_000_000 },
    requests: { daily_limit: 1_000_000_000 },
    tokens: { daily_limit: 1_000_000_000_000 },
  };
  await admin.send("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, { llm_global_limits: limits });
  await admin.post("/v1/admin/guardrails/configs", {
    tenant_id: "default",
    name: `calls of ${groupId}`,
    group_ids: [groupId],
    surfaces: { chat_input: true, chat_output: true },
    builtin: {
      pii_enabled: true,
      secrets_enabled: true,
      prompt_injection_enabled: true,
      banned_words: ["project titan", "desk of the chairman"],
    },
  });
}
